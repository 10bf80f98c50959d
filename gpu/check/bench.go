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

// How long a measurement takes: rounds of so many seconds, of which the median
// counts.
const (
	rounds       = 5
	roundSeconds = 1.0
	warmSteps    = 3
)

// training is a bench under way.
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
	tensor.NoGrad(func() { t.model.Forward(t.x) }) // which makes the parameters
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
	logits.Release() // as PyTorch's reference counts do
	t.optimizer.Step()
}

// wait ends when the last step has.
func (t *training) wait() float64 { return t.loss.Item() }

// seconds is the median time of a step, of several rounds.
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

func measure(ctx context.Context, o options, r *report, out io.Writer) error {
	list := benches(o.quick)
	for i := range list {
		b := &list[i]
		fmt.Fprintf(out, "\n%s\n", b.Words)
		t := start(b)
		first := math.NaN()
		took, err := seconds(ctx, o.quick, t.step, func() {
			if loss := t.wait(); first != first {
				first = loss
			}
		})
		if err != nil {
			return err
		}
		m := measured{Bench: b.Name, Words: b.Words, Samples: b.Samples, FirstLoss: first, LastLoss: t.wait(), Seconds: map[string]float64{"quern": took}}
		if !(m.LastLoss < m.FirstLoss) {
			r.Problems = append(r.Problems, fmt.Sprintf("%s does not learn: the loss goes from %g to %g", b.Name, m.FirstLoss, m.LastLoss))
		}
		tensor.ResetStats()
		const counted = 4
		for range counted {
			t.step()
		}
		t.wait()
		s := tensor.Stats()
		m.Flushes, m.NewPlans, m.Syncs = float64(s.Flushes)/counted, s.PlansMade, s.Syncs
		if m.NewPlans > 0 || m.Syncs > 1 {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: %d steps made %d plans and waited %d times; the last wait is the measurement's", b.Name, counted, m.NewPlans, m.Syncs))
		}
		r.Benches = append(r.Benches, m)
	}
	for _, n := range products(o.quick) {
		took, err := product(ctx, o.quick, n)
		if err != nil {
			return err
		}
		r.Benches = append(r.Benches, measured{Bench: fmt.Sprintf("gemm%d", n), Words: fmt.Sprintf("product %d³, bfloat16", n),
			Flops: 2 * math.Pow(float64(n), 3), Seconds: map[string]float64{"quern": took}})
	}
	if o.python != "" {
		others, err := runTorch(ctx, o, list)
		if err != nil {
			r.Problems = append(r.Problems, err.Error())
		}
		r.join(others)
	}
	r.printBenches(out)
	return nil
}

// products are the sizes of square matrices to multiply.
func products(quick bool) []int {
	if quick {
		return []int{64}
	}
	return []int{512, 4096, 8192}
}

func product(ctx context.Context, quick bool, n int) (float64, error) {
	g := tensor.NewGenerator(2)
	a, b := tensor.Randn(g, n, n).Cast(tensor.BFloat16), tensor.Randn(g, n, n).Cast(tensor.BFloat16)
	var last *tensor.Tensor
	return seconds(ctx, quick, func() {
		if last != nil {
			last.Release()
		}
		last = a.MatMul(b)
		tensor.Flush()
	}, func() { last.Slice(0, 0, 1).Slice(1, 0, 1).Cast(tensor.Float32).Item() })
}
