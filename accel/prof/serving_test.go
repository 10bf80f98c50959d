package prof_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

func TestServing(t *testing.T) {
	var modes []bool
	var sizes []int
	drop := nn.Dropout(0.5)
	model := nn.Sequential(nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
		sizes = append(sizes, x.Size(0))
		y := drop.Forward(tensor.Ones(1000))
		modes = append(modes, slices.Min(y.Data()) == 0)
		return x
	}), drop, nn.Dense(3))
	inputs := tensor.Arange(0, 40, 1, tensor.Float32).Reshape(10, 4)
	r, err := prof.Serving(t.Context(), model, inputs, prof.BatchSizes(4, 1), prof.Requests(3))
	if err != nil {
		t.Fatal(err)
	}
	if r.Device != tensors.Device() || r.Threads != runtime.GOMAXPROCS(0) {
		t.Errorf("device %q, %d threads", r.Device, r.Threads)
	}
	if want := slices.Concat(slices.Repeat([]int{4}, 8), slices.Repeat([]int{1}, 8)); !slices.Equal(sizes, want) { // five requests are not measured
		t.Errorf("batch sizes %v, want %v", sizes, want)
	}
	if slices.Contains(modes, true) {
		t.Errorf("the model was in training mode")
	}
	for i, n := range []int{4, 1} {
		b := r.Sizes[i]
		if b.Batch != n || len(b.Times) != 3 || slices.Min(b.Times) <= 0 || b.Throughput() <= 0 {
			t.Errorf("%+v", b)
		}
	}
	if r, err = prof.Serving(t.Context(), model, inputs, prof.Requests(1)); err != nil || len(r.Sizes) != 2 { // 64 is more than there are
		t.Errorf("%v, %v", r, err)
	}
}

func ms(all ...int) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, n := range all {
		out[i] = time.Duration(n) * time.Millisecond
	}
	return out
}

func TestServingReport(t *testing.T) {
	hundred := prof.BatchTimes{Batch: 2}
	for i := range 100 {
		hundred.Times = append(hundred.Times, time.Duration(100-i)*time.Millisecond)
	}
	for share, want := range map[float64]int{0: 1, 0.5: 50, 0.95: 95, 0.99: 99, 1: 100, 2: 100, -1: 1} {
		if got := hundred.Latency(share); got != ms(want)[0] {
			t.Errorf("quantile %v is %v, want %d ms", share, got, want)
		}
	}
	func() {
		defer func() {
			if failed, ok := recover().(error); !ok || !strings.Contains(failed.Error(), "prof: Latency: the share is NaN") {
				t.Errorf("NaN: %v", failed)
			}
		}()
		hundred.Latency(math.NaN())
	}()
	if got := hundred.Throughput(); math.Abs(got-200/5.05) > 1e-9 { // 200 examples in 1 + 2 + … + 100 ms
		t.Errorf("throughput %v", got)
	}
	if empty := (prof.BatchTimes{Batch: 1}); empty.Latency(0.5) != 0 || empty.Throughput() != 0 {
		t.Errorf("%v", empty)
	}
	r := &prof.ServingReport{Device: "cpu", Threads: 2, Sizes: []prof.BatchTimes{
		{Batch: 64, Times: ms(20, 20)}, {Batch: 1, Times: ms(1, 1)}, {Batch: 8, Times: ms(2, 6)},
	}}
	for _, tt := range []struct {
		limit time.Duration
		want  string
	}{
		{0, "batch size 64 has the highest throughput, 3200 examples/s"},
		{10 * time.Millisecond, "batch size 8 has the highest throughput with 99 % of the requests within 10 ms, 2000 examples/s"},
		{5 * time.Millisecond, "batch size 1 has the highest throughput with 99 % of the requests within 5 ms, 1000 examples/s"},
		{time.Microsecond, "no batch size has 99 % of the requests within 1 µs"},
	} {
		r.Limit = tt.limit
		want := "measured on cpu with 2 threads, 2 requests of each batch size, one after the other: " + tt.want
		if got := r.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	b := r.Report().MIMEBundle()
	if page, _ := b["text/html"].(string); !strings.Contains(page, "Latency: cpu") || !strings.Contains(page, "Throughput: cpu") || !strings.Contains(page, "<table") {
		t.Errorf("%.300s", page)
	}
	if text, _ := b["text/plain"].(string); !strings.Contains(text, "batch size") || !strings.Contains(text, "p99") {
		t.Error(text)
	}
	for _, empty := range []*prof.ServingReport{nil, {}} {
		if got := empty.Report().MIMEBundle()["text/plain"]; got != "no request was measured" {
			t.Error(got)
		}
	}
}

func TestServingErrors(t *testing.T) {
	x := tensor.Ones(4, 3)
	for _, tt := range []struct {
		model   nn.Module
		inputs  *tensor.Tensor
		options []prof.Option
		want    string
	}{
		{nil, x, nil, "prof: Serving: the model is nil"},
		{nn.ReLU(), nil, nil, "prof: Serving: the input is nil"},
		{nn.ReLU(), tensor.Ones(), nil, "the input has the shape []"},
		{nn.ReLU(), tensor.Zeros(0, 3), nil, "the input has the shape [0 3]"},
		{nn.ReLU(), x, []prof.Option{prof.BatchSizes(1, 8)}, "the input has 4 examples, fewer than the batch size 8"},
		{nn.ReLU(), x, []prof.Option{prof.BatchSizes()}, "prof: BatchSizes(): there is no batch size"},
		{nn.ReLU(), x, []prof.Option{prof.BatchSizes(1, 0)}, "prof: BatchSizes(1, 0): batch sizes must be at least 1, and each different"},
		{nn.ReLU(), x, []prof.Option{prof.BatchSizes(2, 2)}, "each different"},
		{nn.ReLU(), x, []prof.Option{prof.Requests(0)}, "prof: Requests(0): the number must be at least 1"},
		{nn.ReLU(), x, []prof.Option{prof.LatencyLimit(0)}, "prof: LatencyLimit(0s): the limit must be positive"},
		{nn.Lambda(func(*tensor.Tensor) *tensor.Tensor { return nil }), x, nil, "a request with 1 examples: the model's output is nil"},
		{nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Sum() }), x, nil, "the model returned shape []"},
		{nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(x) }), x, nil, "a request with 1 examples: MatMul"},
	} {
		r, err := prof.Serving(t.Context(), tt.model, tt.inputs, tt.options...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || r == nil || len(r.Sizes) != 0 {
			t.Errorf("want %q\n got %v", tt.want, err)
		}
	}
}

// TestServingIsInterrupted cancels a measurement during the second batch size.
func TestServingIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	model := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
		if x.Size(0) == 2 {
			cancel()
		}
		return x.Neg()
	})
	r, err := prof.Serving(ctx, model, tensor.Ones(4, 3), prof.BatchSizes(1, 2, 4), prof.Requests(2))
	if !errors.Is(err, context.Canceled) || len(r.Sizes) != 1 || r.Sizes[0].Batch != 1 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestNilReport has methods of a report that was not made.
func TestNilReport(t *testing.T) {
	t.Parallel()
	var none *prof.Report
	for name, call := range map[string]func(){
		"StepTime": func() { none.StepTime() }, "Rows": func() { none.Rows() }, "Gaps": func() { none.Gaps() },
		"Hints": func() { none.Hints() }, "Memory": func() { none.Memory() }, "Timeline": func() { none.Timeline() },
	} {
		func() {
			defer func() {
				failed, ok := recover().(error)
				if want := "prof: " + name + ": the report is nil"; !ok || !strings.HasPrefix(failed.Error(), want) {
					t.Errorf("got %v, want %s", failed, want)
				}
			}()
			call()
		}()
	}
}

// TestOtherOptions gives functions of the package options that only others of them take.
func TestOtherOptions(t *testing.T) {
	for want, f := range map[string]func() error{
		`prof: Run does not take BatchSizes(1, 8): its options are Warmup and Active`: func() error {
			_, err := prof.Run(t.Context(), func() error { return nil }, prof.BatchSizes(1, 8))
			return err
		},
		`prof: Serving does not take Active(2): its options are BatchSizes, Requests and LatencyLimit`: func() error {
			_, err := prof.Serving(t.Context(), nn.ReLU(), tensor.Zeros(1), prof.Active(2))
			return err
		},
	} {
		if err := f(); err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
