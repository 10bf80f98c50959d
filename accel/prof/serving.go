package prof

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
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
	if err := interrupt.RequireContext(ctx, "prof: Serving"); err != nil {
		return nil, err
	}
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

// ServingReport is the result of [Serving]. Notebooks display a table and two figures.
type ServingReport struct {
	Device  string        // on which the model computed
	Threads int           // GOMAXPROCS
	Limit   time.Duration // of LatencyLimit; 0 without a limit
	Sizes   []BatchTimes  // in the order of BatchSizes
}

// BatchTimes are the times of the requests of one batch size.
type BatchTimes struct {
	Batch int             // number of examples in a request
	Times []time.Duration // in the order of the requests
}

// Latency returns the time that a share of the requests, from 0 to 1, did not exceed: 0.5 for the median, 0.99 for the
// 99th percentile. It is the time of one of the requests, the empirical quantile; 0 without requests. It panics if
// the share is NaN; other shares are limited to 0 and 1.
func (b BatchTimes) Latency(share float64) time.Duration {
	if math.IsNaN(share) {
		panic(errors.New("prof: Latency: the share is NaN: it must be from 0 to 1"))
	}
	if len(b.Times) == 0 {
		return 0
	}
	times := make([]float64, len(b.Times))
	for i, d := range b.Times {
		times[i] = float64(d)
	}
	slices.Sort(times)
	return time.Duration(stat.Quantile(min(max(share, 0), 1), stat.Empirical, times, nil))
}

// Throughput returns the examples per second of requests one after the other; 0 without requests.
func (b BatchTimes) Throughput() float64 {
	var sum time.Duration
	for _, d := range b.Times {
		sum += d
	}
	if sum <= 0 {
		return 0
	}
	return float64(b.Batch*len(b.Times)) / sum.Seconds()
}

// Best returns the batch size with the highest throughput, among those whose 99th percentile is within the limit, if
// there is one. ok is false if none is.
func (r *ServingReport) Best() (best BatchTimes, ok bool) {
	for _, b := range r.Sizes {
		if len(b.Times) > 0 && (r.Limit == 0 || b.Latency(0.99) <= r.Limit) && (!ok || b.Throughput() > best.Throughput()) {
			best, ok = b, true
		}
	}
	return best, ok
}

// String says where it was measured, and names the best batch size.
func (r *ServingReport) String() string {
	if r == nil || len(r.Sizes) == 0 {
		return "no request was measured"
	}
	text := fmt.Sprintf("measured on %s with %s, %d requests of each batch size, one after the other: ", r.Device, quantity.Plural(r.Threads, "thread"), len(r.Sizes[0].Times))
	within := ""
	if r.Limit > 0 {
		within = fmt.Sprintf(" with 99 %% of the requests within %s", duration(r.Limit))
	}
	b, ok := r.Best()
	if !ok {
		return text + "no batch size has" + strings.TrimPrefix(within, " with")
	}
	return text + fmt.Sprintf("batch size %d has the highest throughput%s, %s examples/s", b.Batch, within, quantity.Rate(b.Throughput()))
}

// LatencyFigure draws the percentiles of the latency against the batch size.
func (r *ServingReport) LatencyFigure() *plots.Figure {
	var series []plots.Series
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}} {
		series = append(series, r.series(q.name, func(b BatchTimes) float64 { return 1e3 * b.Latency(q.share).Seconds() }))
	}
	if r.Limit > 0 {
		series = append(series, r.series("limit", func(BatchTimes) float64 { return 1e3 * r.Limit.Seconds() }))
	}
	return plots.Lines("Latency: "+r.Device, series...).XLabel("batch size").YLabel("ms").LogX().LogY()
}

// ThroughputFigure draws the examples per second against the batch size.
func (r *ServingReport) ThroughputFigure() *plots.Figure {
	return plots.Lines("Throughput: "+r.Device, r.series("", BatchTimes.Throughput)).XLabel("batch size").YLabel("examples/s").LogX()
}

// series returns a value of each batch size, in ascending order.
func (r *ServingReport) series(name string, value func(BatchTimes) float64) plots.Series {
	s := plots.Series{Name: name}
	sizes := slices.SortedFunc(slices.Values(r.Sizes), func(a, b BatchTimes) int { return a.Batch - b.Batch })
	for _, b := range sizes {
		s.X, s.Y = append(s.X, float64(b.Batch)), append(s.Y, value(b))
	}
	return s
}

// Report returns what is displayed: the best batch size, a table with a row for each one, and the figures.
func (r *ServingReport) Report() *display.Report {
	out := new(display.Report).Text(r.String())
	if r == nil || len(r.Sizes) == 0 {
		return out
	}
	out.Table("batch size", "p50", "p95", "p99", "examples/s")
	for _, b := range r.Sizes {
		out.Row(b.Batch, duration(b.Latency(0.5)), duration(b.Latency(0.95)), duration(b.Latency(0.99)), quantity.Rate(b.Throughput()))
	}
	return out.Figure(r.LatencyFigure()).Figure(r.ThroughputFigure())
}
