package active

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// unlabeledLogits is a data set whose examples are the logits of the identity; its labels are all 0.
func unlabeledLogits(t *testing.T, probabilities [][]float64) *data.Dataset {
	t.Helper()
	rows := make([][]float32, len(probabilities))
	for i, p := range probabilities {
		for _, v := range p {
			rows[i] = append(rows[i], float32(math.Log(v)))
		}
	}
	set, err := data.FromSlices(rows, make([]int, len(rows)))
	if err == nil {
		set, err = set.WithClasses("a", "b", "c")
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The examples that are kept, and their labels, by hand.
func TestPseudoLabels(t *testing.T) {
	set := unlabeledLogits(t, [][]float64{{.8, .1, .1}, {.1, .85, .05}, {.9, .05, .05}, {.4, .3, .3}, {.1, .1, .8}, {.8, .1, .1}})
	for _, row := range []struct {
		threshold float64
		perClass  int
		examples  []int
		labels    []int
	}{
		{0.79, 0, []int{0, 1, 2, 4, 5}, []int{0, 1, 0, 2, 0}},
		{0.79, 2, []int{0, 1, 2, 4}, []int{0, 1, 0, 2}}, // of examples 0 and 5, which are equal, the first
		{0.79, 1, []int{1, 2, 4}, []int{1, 0, 2}},
		{0.88, 0, []int{2}, []int{0}},
		{0.01, 9, []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 0, 0, 2, 0}},
	} {
		sure, err := PseudoLabels(t.Context(), nn.Identity(), set, row.threshold, row.perClass)
		if err != nil {
			t.Fatal(err)
		}
		var labels []int
		for i := range sure.Len() {
			labels = append(labels, sure.Label(i))
			if !slices.Equal(sure.Example(i), set.Example(row.examples[i])) {
				t.Errorf("%v: example %d is another one", row, i)
			}
		}
		if !slices.Equal(labels, row.labels) {
			t.Errorf("%v: the labels are %v", row, labels)
		}
	}
}

func TestPseudoLabelsRefuses(t *testing.T) {
	set := unlabeledLogits(t, [][]float64{{.8, .1, .1}, {.4, .3, .3}})
	targets, err := data.FromTargets([][]float32{{1}}, [][]float32{{1}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context, m nn.Module, set *data.Dataset, threshold float64, perClass int) error {
		_, err := PseudoLabels(ctx, m, set, threshold, perClass)
		return err
	}
	var finite *NotFiniteError
	nan := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(math.NaN()) })
	if err := call(t.Context(), nan, set, 0.5, 0); !errors.As(err, &finite) {
		t.Errorf("NaN: %v", err)
	}
	for name, err := range map[string]error{
		"none": call(t.Context(), nn.Identity(), set, 0.99, 0), "empty": call(t.Context(), nn.Identity(), set.First(0), 0.5, 0),
	} {
		if !errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %v", name, err)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := call(done, nn.Identity(), set, 0.5, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for name, err := range map[string]error{
		"nil set":   call(t.Context(), nn.Identity(), nil, 0.5, 0),
		"nil model": call(t.Context(), nil, set, 0.5, 0),
		"targets":   call(t.Context(), nn.Identity(), targets, 0.5, 0),
		"threshold": call(t.Context(), nn.Identity(), set, 0, 0),
		"NaN":       call(t.Context(), nn.Identity(), set, math.NaN(), 0),
		"percent":   call(t.Context(), nn.Identity(), set, 95, 0),
		"negative":  call(t.Context(), nn.Identity(), set, 0.5, -1),
		"logits":    call(t.Context(), nn.Dense(2), set, 0.5, 0),
	} {
		if err == nil || errors.Is(err, ErrUnsure) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A hundred labeled digits label others, and a second model is trained with both.
func ExamplePseudoLabels() {
	ctx := context.Background()
	train, test, err := data.Digits()
	if err != nil {
		fmt.Println(err)
		return
	}
	labeled, unlabeled := train.Split(0.07) // the first 100, and the others
	accuracy := func(set *data.Dataset) (nn.Module, float64) {
		accel.Seed(1)
		model := nn.Sequential(nn.Flatten(), nn.Dense(64), nn.ReLU(), nn.Dense(10))
		if _, err := accel.Fit(ctx, model, set, accel.Steps(300), accel.BatchSize(32), accel.AdamW(3e-3), accel.Quiet()); err != nil {
			fmt.Println(err)
		}
		result, err := accel.Evaluate(ctx, model, test)
		if err != nil {
			fmt.Println(err)
		}
		return model, result.Accuracy()
	}
	model, before := accuracy(labeled)
	sure, err := PseudoLabels(ctx, model, unlabeled, 0.95, 80)
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := data.Concat(labeled, sure)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, after := accuracy(all)
	fmt.Println("better with pseudo-labels:", after > before)
	// Output: better with pseudo-labels: true
}
