package prof

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/plots"
)

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
	return text + fmt.Sprintf("batch size %d has the highest throughput%s, %.3g examples/s", b.Batch, within, b.Throughput())
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
		out.Row(b.Batch, duration(b.Latency(0.5)), duration(b.Latency(0.95)), duration(b.Latency(0.99)), fmt.Sprintf("%.3g", b.Throughput()))
	}
	return out.Figure(r.LatencyFigure()).Figure(r.ThroughputFigure())
}
