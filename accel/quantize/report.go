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
	"github.com/quernlab/quern/accel/internal/training/compare"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Report compares a quantized model with its float model. Notebooks display it as a table.
type Report struct {
	Model     string       // what is quantized, in words
	Dataset   string       // name of the data set
	FileBytes [2]int       // sizes of the files written by nn.Save and Model.Save
	Loss      [2]float64   // on the data set, float and quantized
	Accuracy  [2]float64   // likewise; NaN for regression
	Agreement float64      // share of the examples for which both predict the same class; NaN without one class each
	Batch     int          // size of the timed batch
	Seconds   [2][]float64 // for the batch, in interleaved rounds
	Layers    []Layer      // in ascending order of SQNR
	Kernel    string       // the CPU instructions of the 8-bit matrix multiplications
}

// reportBatch is the size of the timed batch, reportRounds the number of timed rounds.
const (
	reportBatch  = 256
	reportRounds = 15
)

// Report compares the quantized model with the float model: file sizes, loss, accuracy and predicted classes on a
// data set, the time of a batch (in interleaved rounds), and the error of each layer. Nothing
// else should run meanwhile. Options are those of [accel.Evaluate], such as a loss.
func (m *Model) Report(ctx context.Context, set *data.Dataset, options ...accel.Option) (_ *Report, err error) {
	if err := interrupt.RequireContext(ctx, "quantize: Report"); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	if set == nil || set.Len() == 0 {
		return nil, errors.New("quantize: Report: the data set is nil or empty")
	}
	q := m.of()
	if err := q.unchanged(); err != nil {
		return nil, err
	}
	r := &Report{Model: m.String(), Dataset: set.Name(), Kernel: q.kernel(), Layers: m.Layers()}
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
		if r.FileBytes[i], err = compare.FileBytes(save); err != nil {
			return nil, fmt.Errorf("quantize: report: %w", err)
		}
	}
	meter, ctx := display.Measure(ctx, "comparison", 4)
	defer meter.End()
	for i, model := range []nn.Module{evaluation{q.model}, m} {
		result, err := accel.Evaluate(ctx, model, set, append([]accel.Option{accel.DerivedFrom(q.model)}, options...)...)
		if err != nil {
			return nil, err
		}
		r.Loss[i], r.Accuracy[i] = result.Loss(), result.Accuracy()
		meter.Set(float64(i+1), [2]string{"the float model is evaluated", "both are evaluated"}[i])
	}
	if r.Agreement, err = agreement(ctx, evaluation{q.model}, m, set); err != nil {
		return nil, err
	}
	meter.Set(3, "")
	batch, err := set.First(reportBatch).Tensors()
	if err != nil {
		return nil, err
	}
	r.Batch = batch.Len()
	times, err := compare.Interleave(ctx, reportRounds, forward(evaluation{q.model}, batch.X), forward(m, batch.X))
	if err != nil {
		return nil, err
	}
	meter.Set(4, "")
	r.Seconds = [2][]float64{times[0], times[1]}
	return r, nil
}

// agreement returns the share of the examples for which two models predict the same class.
func agreement(ctx context.Context, a, b nn.Module, set *data.Dataset) (float64, error) {
	if set.Targets() > 0 || set.SequenceLength() > 0 {
		return math.NaN(), nil
	}
	x, err := accel.PredictDataset(ctx, a, set)
	if err != nil {
		return 0, err
	}
	y, err := accel.PredictDataset(ctx, b, set)
	if err != nil {
		return 0, err
	}
	if x.NDim() != 2 || y.NDim() != 2 {
		return math.NaN(), nil
	}
	return x.ArgMax(1).Eq(y.ArgMax(1)).Cast(tensor.Float64).Mean().Item(), nil
}

// evaluation applies the float model in evaluation mode without changing its own mode.
type evaluation struct{ nn.Module }

func (e evaluation) Forward(x *tensor.Tensor) *tensor.Tensor { return evalFloat(e.Module, x) }

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

// kernel describes the CPU instructions of the quantized layers.
func (q *modelState) kernel() string {
	if q.kind == weights {
		return "weights converted to float when used"
	}
	return "8-bit matrix multiplication by " + cpu.IntegerKernel()
}

// Speedup returns the median over the rounds of the float model's time divided by the quantized
// model's.
func (r *Report) Speedup() float64 {
	median, _, _ := compare.Times(r.Seconds[0]).Ratio(r.Seconds[1])
	return median
}

// SizeRatio returns the file size of the float model divided by that of the quantized model.
func (r *Report) SizeRatio() float64 { return float64(r.FileBytes[0]) / float64(r.FileBytes[1]) }

// Report returns the table that compares the models, and that of the layers.
func (r *Report) Report() *display.Report {
	out := new(display.Report).Text(r.Model + ", measured on " + r.Dataset + ", " + r.Kernel + ". Times are medians, with the middle half of the rounds.")
	out.Table("", "float", "quantized", "")
	out.Row("file", quantity.Bytes(r.FileBytes[0]), quantity.Bytes(r.FileBytes[1]), fmt.Sprintf("%.2f times smaller", r.SizeRatio()))
	compare.Faster(out, fmt.Sprintf("%d examples", r.Batch), r.Seconds)
	compare.Quality(out, r.Loss, r.Accuracy)
	if !math.IsNaN(r.Agreement) {
		out.Row("same class", "", "", fmt.Sprintf("%.2f %% of the examples", 100*r.Agreement))
	}
	out.Table("", "layer", "signal to noise", "float", "quantized")
	for _, l := range r.Layers {
		what := "float: " + l.Reason
		if l.Quantized {
			if what = "8 bits"; !math.IsNaN(l.SQNR) {
				what = fmt.Sprintf("%.1f dB", l.SQNR)
			}
		}
		out.Row(l.Name, l.Kind, what, quantity.Bytes(l.FloatBytes), quantity.Bytes(l.Bytes))
	}
	return out
}

// String returns the report as text.
func (r *Report) String() string { return r.Report().String() }
