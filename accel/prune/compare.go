package prune

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/internal/turns"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Report is a dense model beside a pruned one. It shows itself.
type Report struct {
	Dataset string
	Batch   int // examples that were timed together
	Models  [2]Measured
	Seconds [2][]float64 // of the batch, in turns
}

// Measured is what there is of a model.
type Measured struct {
	Weights int // of the layers that can be pruned
	Zeros   int // of them
	// FLOPs are floating-point operations of products for one example: those that are
	// made, and those of them without a zero weight.
	FLOPs, NonZero int
	FileBytes      int // of the file that nn.Save writes
	// PackedBytes is what a format for sparse tensors would need where there are zeros:
	// the numbers that are none and a bit for each weight; what else is in the file stays.
	PackedBytes    int
	Loss, Accuracy float64 // Accuracy is NaN for regression
}

// How many examples are timed together, and how often.
const (
	reportBatch  = 256
	reportRounds = 15
)

// Compare sets a pruned model beside the one that it was made of, see [Copy]: what it
// computes, how long that takes, in turns, what the file needs, and loss and accuracy
// on a set. Nothing else should run meanwhile.
func Compare(ctx context.Context, set *data.Dataset, dense, pruned nn.Module) (r *Report, err error) {
	defer nn.Catch(&err)
	switch {
	case dense == nil || pruned == nil:
		return nil, errors.New("prune: Compare: there are not two models")
	case set == nil || set.Len() == 0:
		return nil, errors.New("prune: Compare: there are no examples to compare the models on")
	}
	batch, err := set.First(reportBatch).Tensors()
	if err != nil {
		return nil, err
	}
	r = &Report{Dataset: set.Name(), Batch: batch.Len()}
	models := [2]nn.Module{dense, pruned}
	meter, ctx := display.Measure(ctx, "comparison", 3)
	defer meter.End()
	for i, model := range models {
		result, err := accel.Evaluate(ctx, model, set, accel.Like(dense))
		if err != nil {
			return nil, err
		}
		m := &r.Models[i]
		m.Loss, m.Accuracy = result.Loss(), result.Accuracy()
		if err := m.count(model, batch.X.Slice(0, 0, 1)); err != nil {
			return nil, err
		}
		if m.FileBytes, err = turns.FileBytes(func(path string) error { return nn.Save(path, model) }); err != nil {
			return nil, fmt.Errorf("prune: Compare: %w", err)
		}
		if m.PackedBytes = m.FileBytes; m.Zeros > 0 {
			m.PackedBytes += (m.Weights+7)/8 - 4*m.Zeros
		}
		meter.Set(float64(i+1), [2]string{"the dense model is evaluated", "both are evaluated"}[i])
	}
	still := display.Unmeasured(ctx) // what is timed shows nothing
	ways := func(model nn.Module) func() error {
		return func() (err error) {
			y, err := accel.Predict(still, model, batch.X)
			if err != nil {
				return err
			}
			defer nn.Catch(&err)
			tensor.Flush()
			y.Release()
			return nil
		}
	}
	times, err := turns.Take(ctx, reportRounds, ways(dense), ways(pruned))
	if err != nil {
		return nil, err
	}
	meter.Set(3, "")
	r.Seconds = [2][]float64{times[0], times[1]}
	return r, nil
}

// count runs an example through a model and looks at its products.
func (m *Measured) count(model nn.Module, x *tensor.Tensor) error {
	table := substitute.Table{}
	for _, p := range products(model) {
		if *p.Weight == nil {
			continue
		}
		w, err := p.weights()
		if err != nil {
			return err
		}
		zeros := 0
		for _, v := range w {
			if v == 0 {
				zeros++
			}
		}
		m.Weights += len(w)
		m.Zeros += zeros
		table[p.Weight] = func(x *tensor.Tensor) *tensor.Tensor {
			y := p.Forward(x)
			outputs := (*p.Weight).Size(0)
			flops := 2 * (y.Numel() / outputs) * len(w)
			m.FLOPs += flops
			m.NonZero += flops / len(w) * (len(w) - zeros)
			return y
		}
	}
	tensor.NoGrad(func() {
		substitute.Within(table, func() { model.Forward(x) })
		tensor.Flush()
	})
	return nil
}

// Speedup is how many times as fast the pruned model is: the median of the rounds.
func (r *Report) Speedup() float64 {
	median, _, _ := turns.Times(r.Seconds[0]).Ratio(r.Seconds[1])
	return median
}

// FLOPsLeft is the share of the dense model's operations that the pruned one makes with
// weights that are not zero.
func (r *Report) FLOPsLeft() float64 {
	return float64(r.Models[1].NonZero) / float64(max(r.Models[0].FLOPs, 1))
}

// sentence says whether fewer operations are less time.
func (r *Report) sentence() string {
	before, after := r.Models[0], r.Models[1]
	median, low, high := turns.Times(r.Seconds[1]).Ratio(r.Seconds[0])
	text := fmt.Sprintf("On paper %.1f %% of the operations are left; they take %.1f %% of the time (%.1f to %.1f).", 100*r.FLOPsLeft(), 100*median, 100*low, 100*high)
	if after.NonZero < after.FLOPs && after.FLOPs == before.FLOPs {
		text += " Zeros are multiplied like other numbers, here as on most hardware: a mask makes nothing faster, and the file not smaller."
	}
	return text
}

func (r *Report) rows() [][]any {
	a, b := r.Models[0], r.Models[1]
	change := func(before, after int) string {
		return fmt.Sprintf("%+.1f %%", 100*(float64(after)/float64(max(before, 1))-1))
	}
	rows := [][]any{
		{"weights", count(a.Weights), count(b.Weights), change(a.Weights, b.Weights)},
		{"of them zero", count(a.Zeros), count(b.Zeros), ""},
		{"FLOPs that are made, an example", count(a.FLOPs), count(b.FLOPs), change(a.FLOPs, b.FLOPs)},
		{"FLOPs without a zero weight", count(a.NonZero), count(b.NonZero), change(a.NonZero, b.NonZero)},
		turns.Faster(fmt.Sprintf("wall time of %d examples", r.Batch), r.Seconds[0], r.Seconds[1]),
		{"file", turns.Bytes(a.FileBytes), turns.Bytes(b.FileBytes), change(a.FileBytes, b.FileBytes)},
		{"packed as sparse", turns.Bytes(a.PackedBytes), turns.Bytes(b.PackedBytes), change(a.PackedBytes, b.PackedBytes)},
	}
	return append(rows, turns.Quality([2]float64{a.Loss, b.Loss}, [2]float64{a.Accuracy, b.Accuracy})...)
}

// count is a number with three digits.
func count(n int) string {
	v := float64(n)
	for _, unit := range []string{"", " k", " M", " G"} {
		if v < 1000 {
			return fmt.Sprintf("%.3g%s", v, unit)
		}
		v /= 1000
	}
	return fmt.Sprintf("%.3g T", v)
}

// String is the report in text.
func (r *Report) String() string { return r.MIMEBundle()["text/plain"].(string) }

// MIMEBundle shows the report.
func (r *Report) MIMEBundle() map[string]any {
	return turns.Shown(r.sentence(), display.Table(r.rows(), "", "dense", "pruned", ""))
}

// String is the cut in text.
func (c *Cut) String() string { return c.MIMEBundle()["text/plain"].(string) }

// MIMEBundle shows the layers.
func (c *Cut) MIMEBundle() map[string]any {
	var rows [][]any
	before, after := 0, 0
	for _, l := range c.Layers {
		rows = append(rows, []any{l.Name, l.Layer, l.Before, l.After, l.Reason})
		before, after = before+l.Before, after+l.After
	}
	return turns.Shown(fmt.Sprintf("%d of %d outputs are left.", after, before), display.Table(rows, "layer", "was", "outputs", "left", "because"))
}
