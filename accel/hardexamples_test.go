package accel_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// TestHardExampleSampler counts how often examples are drawn: half of the draws by the loss.
func TestHardExampleSampler(t *testing.T) {
	x, labels := make([][]float32, 100), make([]int, 100)
	for i := range x {
		x[i], labels[i] = []float32{float32(i)}, i%2
	}
	set, err := data.FromSlices(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, 100)
	counting := counter{nn.Dense(2), counts}
	asked := 0
	hard := func(i int) float64 {
		asked++
		if i >= 90 {
			return 5 // ten hard examples
		}
		return 0
	}
	run, err := accel.Fit(t.Context(), counting, set, accel.HardExampleSampler(hard, 0.5), accel.Epochs(40), accel.SGD(1e-6, 0), accel.Quiet())
	if err != nil || run.Examples != 4000 || asked != 4000 {
		t.Fatalf("%d examples, %d losses, %v", run.Examples, asked, err)
	}
	easy := 0
	for _, n := range counts[:90] {
		easy += n
	}
	if easy < 1700 || easy > 1900 { // 1800 ± 31 of 4000
		t.Errorf("90 easy examples were drawn %d times: %v", easy, counts)
	}
	for name, options := range map[string][]accel.Option{
		"the function is nil": {accel.HardExampleSampler(nil, 0)},
		"from 0 to 1":         {accel.HardExampleSampler(hard, math.NaN())},
		"another sampler":     {accel.HardExampleSampler(hard, 0), accel.ClassBalancedSampler()},
		"must be finite":      {accel.HardExampleSampler(func(int) float64 { return math.NaN() }, 0)},
	} {
		if _, err := accel.Fit(t.Context(), nn.Dense(2), set, append(options, accel.Quiet())...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

// counter counts the examples that pass it, by their only value.
type counter struct {
	nn.Module
	counts []int
}

func (c counter) Forward(x *nn.Tensor) *nn.Tensor {
	for _, v := range x.Data() {
		c.counts[int(v)]++
	}
	return c.Module.Forward(x)
}

// lastLosses are the losses of all examples at the end of the last epoch.
type lastLosses struct {
	accel.NopObserver
	set    *data.Dataset
	values []float64
}

func (l *lastLosses) measure(model nn.Module) error {
	y, err := accel.PredictDataset(context.Background(), model, l.set)
	if err != nil {
		return err
	}
	logs := y.LogSoftmax(1).Data()
	l.values = l.values[:0]
	for i := range l.set.Len() {
		l.values = append(l.values, -float64(logs[10*i+l.set.Label(i)]))
	}
	return nil
}

func (l *lastLosses) Begin(t *accel.Training) error                { return l.measure(t.Model) }
func (l *lastLosses) Epoch(t *accel.Training, _ accel.Epoch) error { return l.measure(t.Model) }
func (l *lastLosses) loss(i int) float64                           { return l.values[i] }

// A training that is resumed, within an epoch or after one, has the same bits as one without interruption.
func TestResumeHardExamples(t *testing.T) {
	all, _ := digits(t)
	train := all.First(100)
	fit := func(ctx context.Context, path string, stopAt int) ([]float32, error) {
		accel.Seed(1)
		model := mlp(8)
		last := &lastLosses{set: train}
		stop := accel.StopWhen(func(r *accel.Run) bool { return len(r.Steps) >= stopAt })
		_, err := accel.Fit(ctx, model, train, accel.Epochs(3), accel.BatchSize(16), accel.HardExampleSampler(last.loss, 0.2), accel.Observe(last), accel.Resume(path), stop, accel.Quiet())
		var values []float32
		for _, p := range nn.Parameters(model) {
			values = append(values, p.Data()...)
		}
		return values, err
	}
	folder := t.TempDir()
	want, err := fit(t.Context(), filepath.Join(folder, "whole"), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{1, 7, 9, 14} { // an epoch has 7 steps
		path := filepath.Join(folder, fmt.Sprint(at))
		if part, err := fit(t.Context(), path, at); err != nil || slices.Equal(part, want) {
			t.Fatalf("%d steps: %v", at, err)
		}
		if got, err := fit(t.Context(), path, 100); err != nil || !slices.Equal(got, want) {
			t.Errorf("resumed after %d steps: other bits, %v", at, err)
		}
	}
}

// The loss of an example is how wrong an earlier model was.
func ExampleHardExampleSampler() {
	points, labels := [][]float32{{0}, {1}, {2}, {3}}, []int{0, 0, 1, 1}
	train, err := data.FromSlices(points, labels)
	if err != nil {
		fmt.Println(err)
		return
	}
	losses := []float64{0.1, 2, 2, 0.1} // the points in the middle are hard
	run, err := accel.Fit(context.Background(), nn.Dense(2), train,
		accel.HardExampleSampler(func(i int) float64 { return losses[i] }, 0.2), accel.Epochs(5), accel.Quiet())
	fmt.Println(run.Examples, err)
	// Output: 20 <nil>
}
