package quantize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/turns"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Report is what a quantised model gains and loses. It shows itself.
type Report struct {
	Model     string // what was quantised
	Dataset   string
	FileBytes [2]int       // of the files that nn.Save and Model.Save write
	Loss      [2]float64   // on the set, float and quantised
	Accuracy  [2]float64   // likewise; NaN for regression
	Batch     int          // examples of the batch that was timed
	Seconds   [2][]float64 // of the batch, in turns
	Layers    []Layer      // the worst first
	Using     string       // the instructions that multiply bytes
}

// reportBatch is how many examples are timed together, and reportRounds how often.
const (
	reportBatch  = 256
	reportRounds = 15
)

// Report compares the quantised model with the float one: bytes of the files, loss and
// accuracy on a set, the time of a batch, taken in turns, and the error of each layer.
// Nothing else should run meanwhile.
func (m *Model) Report(ctx context.Context, set *data.Dataset) (r *Report, err error) {
	defer nn.Catch(&err)
	if set == nil || set.Len() == 0 {
		return nil, errors.New("quantize: Report: there are no examples to compare the models on")
	}
	q := m.of()
	if err := q.unchanged(); err != nil {
		return nil, err
	}
	r = &Report{Model: m.String(), Dataset: set.Name(), Using: q.using(), Layers: m.Layers()}
	slices.SortStableFunc(r.Layers, func(a, b Layer) int {
		switch {
		case a.Quantized != b.Quantized:
			return map[bool]int{true: -1, false: 1}[a.Quantized]
		case a.SQNR < b.SQNR:
			return -1
		case a.SQNR > b.SQNR:
			return 1
		}
		return 0
	})
	for i, save := range []func(path string) error{func(path string) error { return nn.Save(path, m.of().model) }, m.Save} {
		if r.FileBytes[i], err = turns.FileBytes(save); err != nil {
			return nil, fmt.Errorf("quantize: report: %w", err)
		}
	}
	meter, ctx := display.Measure(ctx, "comparison", 3)
	defer meter.End()
	for i, model := range []nn.Module{evaluation{q.model}, m} {
		result, err := accel.Evaluate(ctx, model, set, accel.Like(q.model))
		if err != nil {
			return nil, err
		}
		r.Loss[i], r.Accuracy[i] = result.Loss(), result.Accuracy()
		meter.Set(float64(i+1), [2]string{"the float model is evaluated", "both are evaluated"}[i])
	}
	batch, err := set.First(reportBatch).Tensors()
	if err != nil {
		return nil, err
	}
	r.Batch = batch.Len()
	times, err := turns.Take(ctx, reportRounds, forward(evaluation{q.model}, batch.X), forward(m, batch.X))
	if err != nil {
		return nil, err
	}
	meter.Set(3, "")
	r.Seconds = [2][]float64{times[0], times[1]}
	return r, nil
}

// evaluation is the float model as it is evaluated, whose own mode stays as it is.
type evaluation struct{ nn.Module }

func (e evaluation) Forward(x *tensor.Tensor) *tensor.Tensor { return float(e.Module, x) }

// forward computes a batch.
func forward(model nn.Module, x *tensor.Tensor) func() error {
	return func() (err error) {
		defer nn.Catch(&err)
		y := model.Forward(x)
		tensor.Flush()
		y.Release()
		return nil
	}
}

// using is what the quantised layers are computed with.
func (q *quantized) using() string {
	if q.kind == weights {
		return "weights as floats, where they are used"
	}
	return "products of bytes by " + cpu.IntegerKernel()
}

// Speedup is how many times as fast the quantised model is: the median of the rounds.
func (r *Report) Speedup() float64 {
	median, _, _ := turns.Times(r.Seconds[0]).Ratio(r.Seconds[1])
	return median
}

// Smaller is how many times smaller the file is.
func (r *Report) Smaller() float64 { return float64(r.FileBytes[0]) / float64(r.FileBytes[1]) }

// comparison is the table of what there is of both models.
func (r *Report) comparison() [][]any {
	rows := [][]any{
		{"file", turns.Bytes(r.FileBytes[0]), turns.Bytes(r.FileBytes[1]), fmt.Sprintf("%.2f times smaller", r.Smaller())},
		turns.Faster(fmt.Sprintf("%d examples", r.Batch), r.Seconds[0], r.Seconds[1]),
	}
	return append(rows, turns.Quality(r.Loss, r.Accuracy)...)
}

// layers is the table of layers.
func (r *Report) layers() [][]any {
	var rows [][]any
	for _, l := range r.Layers {
		what := "float: " + l.Reason
		if l.Quantized {
			if what = "8 bits"; !math.IsNaN(l.SQNR) {
				what = fmt.Sprintf("%.1f dB", l.SQNR)
			}
		}
		rows = append(rows, []any{l.Name, l.Kind, what, turns.Bytes(l.FloatBytes), turns.Bytes(l.Bytes)})
	}
	return rows
}

func (r *Report) sentence() string {
	return r.Model + ", measured on " + r.Dataset + ", " + r.Using + ". Times are medians, with the middle half of the rounds."
}

// String is the report in text.
func (r *Report) String() string {
	b := r.MIMEBundle()
	return b["text/plain"].(string)
}

// MIMEBundle shows the report.
func (r *Report) MIMEBundle() map[string]any {
	return turns.Shown(r.sentence(),
		display.Table(r.comparison(), "", "float", "quantised", ""),
		display.Table(r.layers(), "layer", "", "signal to noise", "float", "quantised"))
}
