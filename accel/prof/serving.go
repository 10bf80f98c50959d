package prof

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// serving is a measurement: its settings, the model, and the examples.
type serving struct {
	settings
	model  nn.Module
	inputs *tensor.Tensor
	raw    []byte // of the inputs
}

// servingWarmup is the number of requests before the measured ones of each batch size. The first one compiles plans
// and, if the model is new, creates its parameters.
const servingWarmup = 5

// BatchSizes sets the numbers of examples in a request of [Serving], each of which is measured. The default is 1, 8 and 64, as far as
// there are so many examples.
func BatchSizes(sizes ...int) Option {
	o := option.New(func(s *settings) { s.sizes = slices.Clone(sizes) }, "BatchSizes", option.Each(sizes)...).
		Require(len(sizes) > 0, "there is no batch size")
	for i, n := range sizes {
		o = o.Require(n >= 1 && !slices.Contains(sizes[:i], n), "batch sizes must be at least 1, and each different")
	}
	return Option{o}
}

// Requests sets the number of measured requests of [Serving] for each batch size; the default is 100. With fewer, the 99th percentile
// is the slowest one.
func Requests(n int) Option {
	return Option{option.Count("Requests", n, 1, func(s *settings) *int { return &s.requests })}
}

// LatencyLimit sets the time that 99 % of the requests must not exceed, for [ServingReport.Best].
func LatencyLimit(d time.Duration) Option {
	return Option{option.New(func(s *settings) { s.limit = d }, "LatencyLimit", d).Require(d > 0, "the limit must be positive")}
}

// Serving measures how long a model takes for requests of several sizes, one after the other. A request begins with
// its examples in memory of Go and ends with the outputs there, so that it contains the copies to and from
// a GPU. The model is in evaluation mode and records no gradients, as in accel.Predict. Requests take the examples
// of inputs [N, …] in turn; N must be at least the largest batch size. Before the measured requests of a
// batch size, there are five that are not.
//
// An error of the model, or of ctx, comes with the report of the batch sizes that were measured before.
func Serving(ctx context.Context, model nn.Module, inputs *tensor.Tensor, options ...Option) (r *ServingReport, err error) {
	s := &serving{settings: settings{requests: 100}, model: model, inputs: inputs}
	r = &ServingReport{Device: tensors.Device(), Threads: runtime.GOMAXPROCS(0)}
	if err := option.Apply("prof.Serving", &s.settings, options, "BatchSizes", "Requests", "LatencyLimit"); err != nil {
		return r, err
	}
	if err := s.check(); err != nil {
		return r, err
	}
	r.Limit = s.limit
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	s.raw = inputs.Raw()
	meter, ctx := display.Measure(ctx, "requests", float64(len(s.sizes)*(servingWarmup+s.requests)))
	defer meter.End()
	done := 0
	for _, n := range s.sizes {
		b := BatchTimes{Batch: n}
		for k := range servingWarmup + s.requests {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			d, err := s.request(k, n)
			if err != nil {
				return r, fmt.Errorf("prof: Serving: a request with %d examples: %w", n, err)
			}
			if k >= servingWarmup {
				b.Times = append(b.Times, d)
			}
			done++
			meter.Set(float64(done), fmt.Sprintf("batch size %d", n))
		}
		r.Sizes = append(r.Sizes, b)
	}
	return r, nil
}

// check completes the settings and compares them with the examples.
func (s *serving) check() error {
	switch {
	case s.model == nil:
		return errors.New("prof: Serving: the model is nil")
	case s.inputs == nil:
		return errors.New("prof: Serving: the input is nil")
	case s.inputs.NDim() == 0 || s.inputs.Size(0) == 0:
		return fmt.Errorf("prof: Serving: the input has the shape %v, but its first dimension must be at least one example", s.inputs.Shape())
	}
	n := s.inputs.Size(0)
	if s.sizes == nil {
		s.sizes = slices.DeleteFunc([]int{1, 8, 64}, func(size int) bool { return size > n })
	}
	if most := slices.Max(s.sizes); most > n {
		return fmt.Errorf("prof: Serving: the input has %d examples, fewer than the batch size %d", n, most)
	}
	return nil
}

// request returns the time of request k, which has n examples.
func (s *serving) request(k, n int) (d time.Duration, err error) {
	defer nn.Catch(&err)
	shape := s.inputs.Shape()
	row := len(s.raw) / shape[0]
	at := k % (shape[0] / n) * n
	shape[0] = n
	var y *tensor.Tensor
	begin := time.Now()
	tensor.NoGrad(func() {
		if y = s.model.Forward(tensor.FromRaw(s.inputs.DType(), s.raw[at*row:(at+n)*row], shape...)); y != nil {
			y.Raw()
		}
	})
	d = time.Since(begin)
	switch {
	case y == nil:
		return 0, errors.New("the model's output is nil")
	case y.NDim() == 0 || y.Size(0) != n:
		return 0, fmt.Errorf("the model returned shape %v; the first dimension must be the examples of the request", y.Shape())
	}
	return d, nil
}
