package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// parts is a model with different kinds of parameters: one of each float type, one that is used
// twice, and two that are used only in some steps.
type parts struct {
	First, Twice, Half, Double, Sometimes, Never *tensor.Tensor
}

func newParts(seed uint64) *parts {
	g := tensor.NewGenerator(seed)
	parameter := func(d tensor.DType, shape ...int) *tensor.Tensor {
		return tensor.Parameter(tensor.Randn(g, shape...).Cast(d).Detach())
	}
	return &parts{
		First: parameter(tensor.Float32, 3, 5), Twice: parameter(tensor.Float32, 5, 5), Half: parameter(tensor.BFloat16, 5, 2),
		Double: parameter(tensor.Float64, 2), Sometimes: parameter(tensor.Float32, 5), Never: parameter(tensor.Float32, 4),
	}
}

func (p *parts) loss(x *tensor.Tensor, sometimes bool) *tensor.Tensor {
	h := x.MatMul(p.First).Tanh().MatMul(p.Twice).Sigmoid().MatMul(p.Twice)
	if sometimes {
		h = h.Add(p.Sometimes)
	}
	y := h.MatMul(p.Half).Cast(tensor.Float64).Mul(p.Double)
	return y.Square().Mean().Cast(tensor.Float32)
}

// TestGradientsOfEachKind compares the sums over ranks with the gradient of one process.
func TestGradientsOfEachKind(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		for _, bucket := range []int{1, 70, 1 << 20} {
			all := ranks(t, n, Bucket(bucket))
			want := newParts(1)
			input := func(rank int) *tensor.Tensor { return tensor.Randn(tensor.NewGenerator(uint64(rank+10)), 4, 3) }
			for r := range n {
				want.loss(input(r), r == 1).MulScalar(float64(r+1) / 10).Backward()
			}
			mustEach(t, all, func(ctx context.Context, g *Group) error {
				model := newParts(uint64(g.Rank() + 1))
				s := NewGradients(g, model)
				if err := s.Begin(ctx); err != nil {
					return err
				}
				for round := range 2 {
					for _, p := range nn.Parameters(model) {
						p.ZeroGrad()
					}
					if err := s.Backward(ctx, model.loss(input(g.Rank()), g.Rank() == 1), float64(g.Rank()+1)/10); err != nil {
						return err
					}
					for i, p := range nn.NamedParameters(model) {
						expected := nn.Parameters(want)[i].Grad()
						if (p.Grad() == nil) != (expected == nil) {
							return fmt.Errorf("round %d: %s has the gradient %v, want %v", round, p.Name, p.Grad(), expected)
						}
						if expected == nil {
							continue
						}
						if p.Grad().DType() != p.DType() {
							return fmt.Errorf("%s has a gradient of %v", p.Name, p.Grad().DType())
						}
						tolerance := map[tensor.DType]float64{tensor.BFloat16: 0.02, tensor.Float32: 1e-5, tensor.Float64: 1e-6}[p.DType()]
						for k, v := range p.Grad().Float64s() {
							if e := expected.Float64s()[k]; math.Abs(v-e) > tolerance*(1+math.Abs(e)) {
								return fmt.Errorf("round %d, buckets of %d: %s[%d] is %v, want %v", round, bucket, p.Name, k, v, e)
							}
						}
					}
				}
				return nil
			})
		}
	}
}

// TestOwnLoop runs the training loop of the documentation, with a last batch in which some ranks
// have no examples.
func TestOwnLoop(t *testing.T) {
	digits, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	set := digits.First(65)
	var making sync.Mutex // guards the creation of models: the ranks share the process's random numbers
	train := func(ctx context.Context, g *Group) ([]float32, error) {
		making.Lock()
		tensors.Seed(3)
		model := nn.Sequential(nn.Flatten(), nn.Dense(6), nn.ReLU(), nn.Dense(10))
		model.Forward(tensor.Zeros(1, 8, 8))
		making.Unlock()
		opt := optim.AdamW(model, 0.01)
		gradients := NewGradients(g, model)
		if err := gradients.Begin(ctx); err != nil {
			return nil, err
		}
		for epoch := range 2 {
			batches := set.Batches(16, data.Shuffle(1), data.Epoch(epoch), data.Shard(g.Rank(), g.Size()))
			for batches.Next() {
				b := batches.Batch()
				opt.ZeroGrad()
				var loss *tensor.Tensor
				if b.Len() > 0 {
					loss = nn.CrossEntropy(model.Forward(b.X), b.Y)
				}
				if err := gradients.Backward(ctx, loss, b.Share()); err != nil {
					return nil, err
				}
				opt.Step()
			}
			if err := batches.Err(); err != nil {
				return nil, err
			}
		}
		var weights []float32
		for _, p := range nn.Parameters(model) {
			weights = append(weights, p.Data()...)
		}
		return weights, nil
	}
	alone, err := Join(t.Context(), At(RankInfo{Size: 1}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := train(t.Context(), alone)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3, 4} {
		got := make([][]float32, n)
		mustEach(t, ranks(t, n, Bucket(500)), func(ctx context.Context, g *Group) (err error) {
			got[g.Rank()], err = train(ctx, g)
			return err
		})
		for r := range got {
			if !slices.Equal(got[r], got[0]) {
				t.Errorf("ranks %d and 0 of %d have other weights", r, n)
			}
			for i, w := range want {
				if math.Abs(float64(got[r][i]-w)) > 1e-5 {
					t.Fatalf("rank %d of %d: weight %d is %v, and %v in one process", r, n, i, got[r][i], w)
				}
			}
		}
	}
}

// TestScalersAgree overflows a gradient on one rank: all ranks must skip the step.
func TestScalersAgree(t *testing.T) {
	all := ranks(t, 3)
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		w := tensor.Parameter(tensor.Ones(3))
		model := []*tensor.Tensor{w}
		opt, scaler, s := optim.SGD(model, 0.5), optim.NewGradScaler(), NewGradients(g, model)
		if err := s.Begin(ctx); err != nil {
			return err
		}
		for step, want := range []float64{1 << 15, 1 << 15} {
			x := tensor.Ones(3)
			if step == 0 && g.Rank() == 1 {
				x = tensor.Full(3e38, 3) // becomes infinite when multiplied by the scale
			}
			opt.ZeroGrad()
			if err := s.Backward(ctx, scaler.Scale(w.Mul(x).Sum()), 1./3); err != nil {
				return err
			}
			scaler.Step(opt)
			weight := []float32{1, 0.5}[step]
			if scaler.LossScale() != want || w.Data()[0] != weight || scaler.Skipped() != 1 {
				return fmt.Errorf("step %d: scale %v, weights %v, %d skipped", step, scaler.LossScale(), w.Data(), scaler.Skipped())
			}
		}
		return nil
	})
}

func TestModelsThatDiffer(t *testing.T) {
	for _, c := range []struct {
		name  string
		model func(rank int) any
		want  string
	}{
		{"shape", func(r int) any { return []*tensor.Tensor{tensor.Parameter(tensor.Zeros(2 + r/2))} }, "the model of rank 2 is not that of rank 0"},
		{"number", func(r int) any { return make([]*tensor.Tensor, 0) }, ""},
		{"more", func(r int) any {
			m := []*tensor.Tensor{tensor.Parameter(tensor.Zeros(2))}
			if r == 1 {
				m = append(m, tensor.Parameter(tensor.Zeros(2)))
			}
			return m
		}, "the model of rank 1 is not that of rank 0"},
		{"frozen", func(r int) any {
			m := tensor.Zeros(2)
			m.SetRequiresGrad(r != 1)
			return []*tensor.Tensor{m}
		}, "is trained on one rank and frozen on the other"},
		{"type", func(r int) any {
			d := []tensor.DType{tensor.Float32, tensor.Float32, tensor.BFloat16}[r]
			return []*tensor.Tensor{tensor.Parameter(tensor.Zeros(2).Cast(d).Detach())}
		}, "the model of rank 2 is not that of rank 0: 0 is bfloat16, but float32 on rank 0"},
		{"layer", func(r int) any {
			return nn.Sequential(nn.Flatten(), []nn.Module{nn.ReLU(), nn.Tanh(), nn.ReLU()}[r])
		}, `the model of rank 1 is not that of rank 0: its layer "" Sequential(Flatten(), Tanh()) is "" Sequential(Flatten(), ReLU()) on rank 0`},
		{"layer over all ranks", func(r int) any {
			m := nn.Sequential(nn.BatchNorm())
			m.Forward(tensor.Ones(2, 2))
			if r == 2 {
				nn.ConvertSyncBatchNorm(m)
			}
			return m
		}, `the model of rank 2 is not that of rank 0: its layer "0" SyncBatchNorm() is "0" BatchNorm() on rank 0`},
		{"layer of many", func(r int) any {
			var layers []nn.Module
			for i := range 30 {
				layers = append(layers, nn.ReLU())
				if i == 15 && r == 1 {
					layers[i] = nn.Tanh()
				}
			}
			return nn.Sequential(layers...)
		}, `: its layer …`},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := ranks(t, 3)
			for r, err := range each(t, all, func(ctx context.Context, g *Group) error { return NewGradients(g, c.model(g.Rank())).Begin(ctx) }) {
				var differs *ModelError
				if c.want == "" && err == nil {
					continue
				}
				if !errors.As(err, &differs) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank %d: %v", r, err)
				}
			}
			mustEach(t, all, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) }) // all ranks got the error
		})
	}
}

func TestBackwardThatPanics(t *testing.T) {
	all := ranks(t, 2)
	for r, err := range each(t, all, func(ctx context.Context, g *Group) (err error) {
		model := newParts(1)
		s := NewGradients(g, model)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panicked: %v", p)
			}
		}()
		_, err = s.Exchange(ctx, Exchange{Backward: func() {
			if g.Rank() == 1 {
				panic("a mistake")
			}
			model.loss(tensor.Ones(1, 3), true).Backward()
		}})
		return err
	}) {
		if want := []string{"gave up: the model has panicked: a mistake", "panicked: a mistake"}[r]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// TestOverlap checks that a bucket is reduced before the backward pass returns.
func TestOverlap(t *testing.T) {
	all := ranks(t, 2, Bucket(1))
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		model := newParts(1)
		s := NewGradients(g, model)
		x := tensor.Ones(1, 3)
		if err := s.Backward(ctx, model.loss(x, true), 1); err != nil { // determines the order of the buckets
			return err
		}
		before := g.Stats().Collectives
		_, err := s.Exchange(ctx, Exchange{Backward: func() {
			model.loss(x, true).Backward()
			for g.Stats().Collectives == before && ctx.Err() == nil {
				runtime.Gosched()
			}
		}})
		if err == nil && (s.Overlap().Busy <= 0 || s.Overlap().Hidden() < 0 || s.Overlap().Hidden() > 1) {
			err = fmt.Errorf("%+v", s.Overlap())
		}
		return err
	})
}

// TestBeginWithoutParameters trains nothing on two ranks, with a model that has no parameters, and rejects one whose layers have not created
// theirs.
func TestBeginWithoutParameters(t *testing.T) {
	mustEach(t, ranks(t, 2), func(ctx context.Context, g *Group) error {
		s, values := NewGradients(g, nn.Sequential(nn.Flatten(), nn.ReLU())), []float64{1}
		if err := s.Begin(ctx); err != nil {
			return err
		}
		if _, err := s.Exchange(ctx, Exchange{Backward: func() {}, HostValues: values}); err != nil || values[0] != 2 {
			return fmt.Errorf("the sum is %v: %w", values, err)
		}
		return nil
	})
	all := ranks(t, 2)
	for r, err := range each(t, all, func(ctx context.Context, g *Group) error {
		model := nn.Sequential(nn.Flatten(), nn.Dense(2))
		if g.Rank() == 1 {
			model.Forward(tensor.Ones(1, 3))
		}
		return NewGradients(g, model).Begin(ctx)
	}) {
		if err == nil || !strings.Contains(err.Error(), "rank 0 has no parameters yet in layer 1,") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	mustEach(t, all, func(ctx context.Context, g *Group) error { return g.Barrier(ctx) }) // all ranks got the error
}

// TestSyncBatchNormInOneProcess checks that ranks that share a process are rejected: they would
// wait for each other forever.
func TestSyncBatchNormInOneProcess(t *testing.T) {
	for r, err := range each(t, ranks(t, 2), func(ctx context.Context, g *Group) error {
		model := nn.Sequential(nn.Dense(2), nn.SyncBatchNorm())
		model.Forward(tensor.Ones(2, 2))
		return NewGradients(g, model).Begin(ctx)
	}) {
		if !errors.Is(err, errOneProcess) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
