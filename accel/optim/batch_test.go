//go:build !race

package optim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// modules caches parsed kernels for all tests.
var modules fake.Modules

// onVariant runs f on a new simulated GPU.
func onVariant(t *testing.T, name string, v cuda.Variants, f func()) {
	t.Helper()
	devices.Register(name, func() (ir.Device, error) {
		d, err := fake.Open(fake.Options{Modules: &modules})
		if err != nil {
			return nil, err
		}
		return cuda.Open(name, d, 0, cuda.Libraries{Variants: v})
	})
	if err := tensors.SetDevice(name); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tensors.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	f()
}

// updates returns how many steps of the newest list, other than norms and products, read values of before it and write
// some that outlive it.
func updates(c *trace.Collector) (n int) {
	flushes := c.Flushes()
	p := flushes[len(flushes)-1].Program
	for _, s := range p.Steps {
		reads := slices.ContainsFunc(s.In, func(o trace.Operand) bool { return p.Slots[o.Slot].Kind == trace.Before })
		writes := slices.ContainsFunc(s.Out, func(o trace.Operand) bool {
			return p.Slots[o.Slot].Kind == trace.Result && len(o.Shape) > 0
		})
		if reads && writes && !strings.HasPrefix(s.Ops[0], "LayerNorm") && s.Ops[0] != "Linear" {
			n++
		}
	}
	return n
}

// One kernel updates all parameters, whose gradients are of float32 and of 16 bits, and some of which
// have one element. It computes what a kernel for each of them computes.
func TestOneUpdateOnCUDA(t *testing.T) {
	for _, row := range []struct {
		name    string
		make    func(model any) *optim.Optimizer
		updates int // 0 for a rule that is not elementwise
	}{
		{"SGD", func(m any) *optim.Optimizer { return optim.SGD(m, 0.1) }, 1},
		{"SGD with momentum", func(m any) *optim.Optimizer {
			return optim.SGD(m, 0.1, optim.Momentum(0.9), optim.Nesterov(), optim.WeightDecay(0.1))
		}, 1},
		{"Adam", func(m any) *optim.Optimizer { return optim.Adam(m, 0.01, optim.WeightDecay(0.1)) }, 1},
		{"AdamW", func(m any) *optim.Optimizer { return optim.AdamW(m, 0.01) }, 1},
		{"AdamW with clipping", func(m any) *optim.Optimizer { return optim.AdamW(m, 0.01, optim.ClipGradNorm(0.1)) }, 1},
		{"RMSprop", func(m any) *optim.Optimizer { return optim.RMSprop(m, 0.01) }, 1},
		{"Adagrad", func(m any) *optim.Optimizer { return optim.Adagrad(m, 0.01) }, 1},
		// Lion's updates of a parameter and of its mean are two kernels if the gradient is of float32, since
		// neither computes what the other reads.
		{"Lion", func(m any) *optim.Optimizer { return optim.Lion(m, 0.01) }, 3},
		{"LAMB", func(m any) *optim.Optimizer { return optim.LAMB(m, 0.01) }, 0},
		{"Muon", func(m any) *optim.Optimizer { return optim.Muon(m, 0.01) }, 0},
	} {
		for _, dtype := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
			if dtype == tensor.Float16 && row.name != "AdamW" && row.name != "Muon" {
				continue
			}
			t.Run(row.name+" "+dtype.String(), func(t *testing.T) {
				train := func() (out [][]float32, made int) {
					g := tensor.NewGenerator(1)
					x, y := tensor.Randn(g, 8, 12), tensor.Randn(g, 8, 1)
					tensors.Seed(3)
					model := nn.Sequential(nn.Dense(16), nn.LayerNorm(), nn.ReLU(), nn.Dense(1))
					tensor.NoGrad(func() { model.Forward(x) })
					opt, scaler := row.make(model), optim.NewGradScaler()
					c, ok := trace.Start()
					if !ok {
						t.Fatal("a profile is being recorded")
					}
					defer c.Stop()
					for range 3 {
						var loss *tensor.Tensor
						tensor.Autocast(dtype, func() { loss = nn.MSE(model.Forward(x), y) })
						opt.ZeroGrad()
						if dtype == tensor.Float16 {
							scaler.Scale(loss).Backward()
							scaler.Step(opt)
						} else {
							loss.Backward()
							opt.Step()
						}
					}
					made = updates(c)
					for _, p := range nn.Parameters(model) {
						out = append(out, p.Data(), p.Grad().Data())
						for _, m := range optim.Means(opt, p) {
							if m != nil {
								out = append(out, m.Data())
							}
						}
					}
					return out, made
				}
				var got, want [][]float32
				var made int
				onVariant(t, "together "+t.Name(), cuda.Variants{}, func() { got, made = train() })
				onVariant(t, "apart "+t.Name(), cuda.Variants{NoBatches: true}, func() { want, _ = train() })
				// A scaler's step needs two passes: the gradients must be finite.
				if dtype == tensor.BFloat16 && row.updates > 0 && made != row.updates {
					t.Errorf("%d kernels update the parameters, want %d", made, row.updates)
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("values %d are %v, want %v", i, got[i], want[i])
					}
				}
			})
		}
	}
}
