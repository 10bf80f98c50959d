package accel_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/calibrate"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func TestScores(t *testing.T) {
	two, err := data.FromSlices([][]float32{{1, 3}, {0.5, -1}, {0, 0}}, []int{1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	three, err := data.FromSlices([][]float32{{1, 3, 0}, {100, -100, 100}, {0, 0, 0}}, []int{1, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	several, err := data.FromTargets([][]float32{{1, 3}, {-1, 2}}, [][]float32{{0, 1}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		set      *data.Dataset
		class    int
		scores   []float64
		positive []bool
	}{
		"two classes":   {two, 1, []float64{2, -1.5, 0}, []bool{true, false, true}},
		"the other":     {two, 0, []float64{-2, 1.5, 0}, []bool{false, true, false}},
		"three classes": {three, 1, []float64{3 - math.Log(math.E+1), -200 - math.Ln2, -math.Ln2}, []bool{true, false, false}},
		"targets":       {several, 1, []float64{3, 2}, []bool{true, false}},
	} {
		scores, positive, err := accel.Scores(t.Context(), nn.Identity(), row.set, row.class)
		if err != nil || !slices.Equal(positive, row.positive) {
			t.Errorf("%s: %v, %v", name, positive, err)
		}
		for i, want := range row.scores {
			if math.Abs(scores[i]-want) > 1e-6 {
				t.Errorf("%s: score %d is %v, want %v", name, i, scores[i], want)
			}
		}
	}
	words, err := data.TokenClasses([][]int{{1, 2}}, [][]int{{0, 1}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	values, err := data.FromTargets([][]float32{{1}}, [][]float32{{0.5}})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"nil": func() error { _, _, err := accel.Scores(t.Context(), nn.Identity(), nil, 0); return err },
		"NaN": func() error {
			nan := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(math.NaN()) })
			_, _, err := accel.Scores(t.Context(), nan, two, 0)
			return err
		},
		"class too large": func() error { _, _, err := accel.Scores(t.Context(), nn.Identity(), two, 2); return err },
		"negative class":  func() error { _, _, err := accel.Scores(t.Context(), nn.Identity(), two, -1); return err },
		"other outputs":   func() error { _, _, err := accel.Scores(t.Context(), nn.Dense(1), two, 1); return err },
		"sequences":       func() error { _, _, err := accel.Scores(t.Context(), nn.Identity(), words, 0); return err },
		"values":          func() error { _, _, err := accel.Scores(t.Context(), nn.Identity(), values, 0); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The threshold with the best F1 on one part, and what it gives on another.
func ExampleScores() {
	set, err := data.FromSlices([][]float32{{0, 1}, {0, 2}, {0, -1}, {0, -3}, {0, 3}, {0, 0}}, []int{0, 1, 0, 0, 1, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	held, test := set.Split(0.5)
	scores, positive, err := accel.Scores(context.Background(), nn.Identity(), held, 1) // the examples are logits
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := calibrate.BestF(scores, positive, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if scores, positive, err = accel.Scores(context.Background(), nn.Identity(), test, 1); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(best.Apply(scores, positive))
	// Output: threshold 1.5: 1 with 1 true and 0 false positives, 2 true and 0 false negatives <nil>
}
