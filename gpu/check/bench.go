package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// A measurement is the median of several rounds of this many seconds.
const (
	rounds       = 5
	roundSeconds = 1.0
	warmSteps    = 3
)

// training is a running benchmark.
type training struct {
	bench     *bench
	model     nn.Module
	optimizer *optim.Optimizer
	x, y      *tensor.Tensor
	loss      *tensor.Tensor
}

func start(b *bench) *training {
	t := &training{bench: b, model: b.model()}
	t.x, t.y = b.batch(1)
	tensor.NoGrad(func() { t.model.Forward(t.x) }) // creates the parameters
	t.optimizer = optim.AdamW(t.model, 1e-3)
	return t
}

func (t *training) step() {
	if t.loss != nil {
		t.loss.Release()
	}
	d := tensor.Float32
	if t.bench.Half {
		d = tensor.BFloat16
	}
	var logits *tensor.Tensor
	tensor.Autocast(d, func() {
		logits = t.model.Forward(t.x)
		t.loss = nn.CrossEntropy(logits, t.y)
	})
	t.optimizer.ZeroGrad()
	t.loss.Backward()
	logits.Release() // PyTorch's reference counting frees it here too
	t.optimizer.Step()
}

// wait waits for the last step and returns its loss.
func (t *training) wait() float64 { return t.loss.Item() }

// seconds returns the median time of a step over several rounds.
func seconds(ctx context.Context, quick bool, step func(), wait func()) (float64, error) {
	for range warmSteps {
		step()
	}
	wait()
	once := time.Now()
	step()
	wait()
	n := max(1, int(roundSeconds/max(time.Since(once).Seconds(), 1e-6)))
	count := rounds
	if quick {
		n, count = 1, 1
	}
	var times []float64
	for range count {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		began := time.Now()
		for range n {
			step()
		}
		wait()
		times = append(times, time.Since(began).Seconds()/float64(n))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// measure trains each benchmark model and counts the launches, copies and allocations of a
// repeated step.
func measure(ctx context.Context, o options, r *report, out io.Writer) error {
	list := benches(o.quick)
	var names []string
	for _, b := range list {
		names = append(names, b.Name)
	}
	return r.each(ctx, o, names, func(i int) error {
		b := &list[i]
		fmt.Fprintf(out, "\n%s\n", b.Words)
		m, err := r.measureOne(ctx, o, b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		fmt.Fprintf(out, "%.1f µs a step, %.0f /s; %.3g launches, %.3g kernels, %.3g allocations\n", m.Seconds["quern"]*1e6, float64(m.Samples)/m.Seconds["quern"], m.Launches, m.Kernels, m.Allocs)
		r.Benches = append(r.Benches, m)
		return nil
	})
}

func (r *report) measureOne(ctx context.Context, o options, b *bench) (m measured, err error) {
	defer nn.Catch(&err)
	t := start(b)
	first := math.NaN()
	m = measured{Bench: b.Name, Words: b.Words, Samples: b.Samples}
	took := 0.0
	watts, _, err := metered(ctx, func() (err error) {
		took, err = seconds(ctx, o.quick, t.step, func() {
			if loss := t.wait(); first != first {
				first = loss
			}
		})
		return err
	})
	if err != nil {
		return m, err
	}
	m.FirstLoss, m.LastLoss, m.Seconds = first, t.wait(), map[string]float64{"quern": took}
	if watts > 0 {
		m.Watts, m.Joules = watts, watts*took
	}
	if !(m.LastLoss < m.FirstLoss) {
		r.Problems = append(r.Problems, fmt.Sprintf("%s does not learn: the loss changes from %g to %g", b.Name, m.FirstLoss, m.LastLoss))
	}
	tensor.Synchronize()
	tensor.ResetStats()
	const counted = 4
	for range counted {
		t.step()
	}
	s := tensor.Stats()
	t.wait()
	m.Flushes, m.NewPlans, m.Syncs = float64(s.Flushes)/counted, s.PlansMade, s.Device.Waits
	m.Launches, m.Kernels, m.Copies = float64(s.Device.Launches)/counted, float64(s.Device.Kernels)/counted, float64(s.Device.Copies)/counted
	m.ToDevice, m.ToHost, m.Allocs = float64(s.Device.ToDevice)/counted, float64(s.Device.ToHost)/counted, float64(s.Device.Allocs)/counted
	if m.NewPlans > 0 || m.Syncs > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %d repeated steps compiled %d plans and waited %d times for the device; want none", b.Name, counted, m.NewPlans, m.Syncs))
	}
	return m, nil
}

// firstUse measures the time to the first result: opening the device and loading the kernels of
// one op.
func firstUse(_ context.Context, o options, r *report, out io.Writer) error {
	began := time.Now()
	if err := tensor.SetDevice(o.device); err != nil {
		return err
	}
	tensor.Ones(4).AddScalar(1).Data()
	r.FirstUse = time.Since(began).Seconds()
	const atMost = 2
	fmt.Fprintf(out, "\nfirst use  %.2f s\n", r.FirstUse)
	if r.FirstUse > atMost {
		r.Problems = append(r.Problems, fmt.Sprintf("the first use takes %.2f s, want at most %d s", r.FirstUse, atMost))
	}
	return nil
}

// squareMatmul is a matrix multiplication of two square matrices to measure.
type squareMatmul struct {
	name, words string
	n           int
	took        func() (float64, error)
}

// measureMatmuls multiplies square matrices in bfloat16, in float32 and, if the device supports
// it, in FP8.
func measureMatmuls(ctx context.Context, o options, r *report, out io.Writer) error {
	fmt.Fprintln(out)
	var list []squareMatmul
	for _, n := range matmulSizes(o.quick) {
		list = append(list, squareMatmul{fmt.Sprintf("gemm%d", n), fmt.Sprintf("matmul %d³, bfloat16", n), n, func() (float64, error) { return matmul(ctx, o.quick, n, tensor.BFloat16) }})
	}
	for _, n := range matmulSizes(o.quick) {
		list = append(list, squareMatmul{fmt.Sprintf("gemm32-%d", n), fmt.Sprintf("matmul %d³, float32", n), n, func() (float64, error) { return matmul(ctx, o.quick, n, tensor.Float32) }})
	}
	if err := tensor.CheckFP8(); err != nil {
		fmt.Fprintf(out, "no matrix multiplications in FP8: %v\n", err)
	} else {
		for _, n := range matmulSizes(o.quick) {
			list = append(list, squareMatmul{fmt.Sprintf("gemm8-%d", n), fmt.Sprintf("Linear %d³, FP8 with scaling", n), n, func() (float64, error) { return matmulFP8(ctx, o.quick, n) }})
		}
	}
	var names []string
	for _, p := range list {
		names = append(names, p.words)
	}
	return r.each(ctx, o, names, func(i int) error {
		p := list[i]
		took, err := p.took()
		if err != nil {
			return fmt.Errorf("%s: %w", p.words, err)
		}
		flops := 2 * math.Pow(float64(p.n), 3)
		fmt.Fprintf(out, "%s: %.3g TFLOP/s\n", p.words, flops/took/1e12)
		r.Benches = append(r.Benches, measured{Bench: p.name, Words: p.words, Flops: flops, Seconds: map[string]float64{"quern": took}})
		return nil
	})
}

// matmulSizes returns the sizes of the square matrices to multiply.
func matmulSizes(quick bool) []int {
	if quick {
		return []int{64}
	}
	return []int{512, 4096, 8192}
}

func matmul(ctx context.Context, quick bool, n int, d tensor.DType) (took float64, err error) {
	g := tensor.NewGenerator(2)
	a, b := tensor.Randn(g, n, n).Cast(d), tensor.Randn(g, n, n).Cast(d)
	return repeated(ctx, quick, func() *tensor.Tensor { return a.MatMul(b) })
}

// matmulFP8 measures Linear in FP8, including the computation of the scales.
func matmulFP8(ctx context.Context, quick bool, n int) (took float64, err error) {
	g := tensor.NewGenerator(2)
	x, w := tensor.Randn(g, n, n).Cast(tensor.BFloat16), tensor.Randn(g, n, n).Cast(tensor.BFloat16)
	return repeated(ctx, quick, func() (y *tensor.Tensor) {
		tensor.AutocastFP8(func() { y = tensor.Linear(x, w, nil) })
		return y
	})
}

// repeated returns the time of one run of f in seconds.
func repeated(ctx context.Context, quick bool, f func() *tensor.Tensor) (took float64, err error) {
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		var last *tensor.Tensor
		took, err = seconds(ctx, quick, func() {
			if last != nil {
				last.Release()
			}
			last = f()
			tensor.Flush()
		}, tensor.Synchronize)
	})
	return took, err
}
