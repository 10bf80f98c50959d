package prune

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/compare"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Report compares a dense model with a pruned one. Notebooks display it as a table.
type Report struct {
	Dataset string          // name of the data set
	Batch   int             // size of the timed batch
	Models  [2]Measurements // dense, then pruned
	Seconds [2][]float64    // for the batch, in interleaved rounds
}

// Measurements holds the measurements of one model.
type Measurements struct {
	Weights int // number of weights in prunable layers
	Zeros   int // number of weights that are zero
	// FLOPs is the number of floating-point operations of matrix multiplications and convolutions
	// per example; NonZero counts only those with a non-zero weight.
	FLOPs, NonZero int
	FileBytes      int // size of the file written by nn.Save
	// PackedBytes is the file size in a sparse format: non-zero weights, and one bit per weight for
	// layers with zeros; everything else is unchanged.
	PackedBytes    int
	Loss, Accuracy float64 // Accuracy is NaN for regression
}

// Size of the timed batch, and number of rounds.
const (
	reportBatch  = 256
	reportRounds = 15
)

// Compare compares a pruned model with the dense model that it was made from (see [Copy]): the
// operations, the time (in interleaved rounds), the file size, and the loss and accuracy on a data
// set. Nothing else should run meanwhile.
func Compare(ctx context.Context, dense, pruned nn.Module, set *data.Dataset) (_ *Report, err error) {
	if err := interrupt.RequireContext(ctx, "prune: Compare"); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	switch {
	case dense == nil || pruned == nil:
		return nil, errors.New("prune: Compare: a model is nil")
	case set == nil || set.Len() == 0:
		return nil, errors.New("prune: Compare: the data set is nil or empty")
	}
	batch, err := set.First(reportBatch).Tensors()
	if err != nil {
		return nil, err
	}
	r := &Report{Dataset: set.Name(), Batch: batch.Len()}
	models := [2]nn.Module{dense, pruned}
	meter, ctx := display.Measure(ctx, "comparison", 3)
	defer meter.End()
	for i, model := range models {
		result, err := accel.Evaluate(ctx, model, set, accel.DerivedFrom(dense))
		if err != nil {
			return nil, err
		}
		m := &r.Models[i]
		m.Loss, m.Accuracy = result.Loss(), result.Accuracy()
		if err := m.count(model, batch.X.Slice(0, 0, 1)); err != nil {
			return nil, err
		}
		if m.FileBytes, err = compare.FileBytes(func(path string) error { return nn.Save(path, model) }); err != nil {
			return nil, fmt.Errorf("prune: Compare: %w", err)
		}
		if m.PackedBytes = m.FileBytes; m.Zeros > 0 {
			m.PackedBytes += (m.Weights+7)/8 - 4*m.Zeros
		}
		meter.Set(float64(i+1), [2]string{"the dense model is evaluated", "both are evaluated"}[i])
	}
	still := display.Unmeasured(ctx) // without progress display during timing
	evaluation := func(model nn.Module) func() error {
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
	times, err := compare.Interleave(ctx, reportRounds, evaluation(dense), evaluation(pruned))
	if err != nil {
		return nil, err
	}
	meter.Set(3, "")
	r.Seconds = [2][]float64{times[0], times[1]}
	return r, nil
}

// count runs an example through a model and counts its operations.
func (m *Measurements) count(model nn.Module, x *tensor.Tensor) error {
	table := layer.Substitutes{}
	for _, p := range prunableLayers(model) {
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
		layer.Substitute(table, func() { model.Forward(x) })
		tensor.Flush()
	})
	return nil
}

// Speedup returns the median over the rounds of the dense model's time divided by the pruned
// model's.
func (r *Report) Speedup() float64 {
	median, _, _ := compare.Times(r.Seconds[0]).Ratio(r.Seconds[1])
	return median
}

// FLOPsRatio returns the operations of the pruned model with non-zero weights, as a fraction of
// the dense model's operations.
func (r *Report) FLOPsRatio() float64 {
	return float64(r.Models[1].NonZero) / float64(max(r.Models[0].FLOPs, 1))
}

// sentence summarizes whether fewer operations take less time.
func (r *Report) sentence() string {
	before, after := r.Models[0], r.Models[1]
	median, low, high := compare.Times(r.Seconds[1]).Ratio(r.Seconds[0])
	text := fmt.Sprintf("%.1f %% of the operations remain; they take %.1f %% of the time (%.1f to %.1f).", 100*r.FLOPsRatio(), 100*median, 100*low, 100*high)
	if after.NonZero < after.FLOPs && after.FLOPs == before.FLOPs {
		text += " Multiplying by zero takes as long as by any other number: a mask does not make the model faster or its file smaller."
	}
	return text
}

// Report returns the sentence with the table below it.
func (r *Report) Report() *display.Report {
	a, b := r.Models[0], r.Models[1]
	out := new(display.Report).Text(r.sentence()).Table("", "dense", "pruned", "")
	row := func(name string, before, after int, format func(int) string) {
		out.Row(name, format(before), format(after), fmt.Sprintf("%+.1f %%", 100*(float64(after)/float64(max(before, 1))-1)))
	}
	row("weights", a.Weights, b.Weights, quantity.Count)
	out.Row("zero weights", quantity.Count(a.Zeros), quantity.Count(b.Zeros))
	row("FLOPs per example", a.FLOPs, b.FLOPs, quantity.Count)
	row("FLOPs with non-zero weights", a.NonZero, b.NonZero, quantity.Count)
	compare.Faster(out, fmt.Sprintf("wall time of %d examples", r.Batch), r.Seconds)
	row("file", a.FileBytes, b.FileBytes, quantity.Bytes)
	row("packed as sparse", a.PackedBytes, b.PackedBytes, quantity.Bytes)
	compare.Quality(out, [2]float64{a.Loss, b.Loss}, [2]float64{a.Accuracy, b.Accuracy})
	return out
}

// String returns the report as text.
func (r *Report) String() string { return r.Report().String() }

// Report returns the table.
func (c *ChannelReport) Report() *display.Report {
	before, after := 0, 0
	for _, l := range c.Layers {
		before, after = before+l.Before, after+l.After
	}
	out := new(display.Report).Text(fmt.Sprintf("%d of %d outputs are left.", after, before)).Table("layer", "was", "outputs", "left", "because")
	for _, l := range c.Layers {
		out.Row(l.Name, l.Layer, l.Before, l.After, l.Reason)
	}
	return out
}

// String returns the table as text.
func (c *ChannelReport) String() string { return c.Report().String() }
