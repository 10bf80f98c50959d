package parallel

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// memory is what a rank needs for a training, in bytes of tensors.
type memory struct {
	Between int // steps
	Peak    int // of the forward and backward pass
}

const (
	memoryWidth  = 512 // so that the model is larger than what tensors.PeakBytes may miss
	memoryLayers = 12
	memoryRanks  = 4
)

// measureMemory trains a chain of linear layers, whose activations need little memory.
func measureMemory(ctx context.Context, mesh *DeviceMesh, zero int) (m memory, err error) {
	layers := []nn.Module{}
	for range memoryLayers {
		layers = append(layers, nn.Dense(memoryWidth, nn.NoBias()), nn.Tanh())
	}
	model := nn.Module(nn.Sequential(layers...))
	x := tensor.Ones(4, memoryWidth)
	model.Forward(x)
	var shared *DistributedModel
	before := tensors.MemoryUse().Allocated - memoryLayers*memoryWidth*memoryWidth*4
	if zero > 0 {
		if shared, err = Distribute(ctx, mesh, model, ZeRO(zero)); err != nil {
			return m, err
		}
		model = shared
	}
	return measureSteps(model, before, func() error {
		if shared == nil {
			nn.MSE(model.Forward(x), x).Backward()
			tensor.Flush()
			return nil
		}
		_, err := shared.Backward(ctx, x, x, nn.MSE, 1/float64(mesh.DP.Size()))
		return err
	})
}

// measureSteps measures the memory that a training has allocated since before.
func measureSteps(model nn.Module, before int, backward func() error) (m memory, err error) {
	opt := optim.AdamW(model, 1e-3)
	for range 3 {
		opt.ZeroGrad()
		m.Peak = tensors.PeakBytes(func() { err = backward() }) - before
		if err != nil {
			return m, err
		}
		opt.Step()
	}
	m.Between = tensors.MemoryUse().Allocated - before
	runtime.KeepAlive(opt)
	runtime.KeepAlive(model)
	return m, nil
}

func init() {
	rankTasks["memory"] = func(ctx context.Context, g *Group) (any, error) {
		g.bucket = 4 * memoryWidth * memoryWidth * 4 // less than the model
		mesh, err := Mesh(ctx, g, g.Size(), 1, 1)
		if err != nil {
			return nil, err
		}
		defer mesh.Close()
		all := make([]memory, 4)
		for zero := range all {
			if all[zero], err = measureMemory(ctx, mesh, zero); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// TestMemoryOfZeRO measures the bytes of tensors on each rank. Of the parameters P, one process has P,
// the gradients P and the two running means of AdamW 2P.
func TestMemoryOfZeRO(t *testing.T) {
	all := onRanks[[]memory](t, "memory", memoryRanks)
	const p = memoryLayers * memoryWidth * memoryWidth * 4
	var table strings.Builder
	fmt.Fprintf(&table, "%d ranks, parameters P of %d bytes\n%-12s %-24s %s\n", memoryRanks, p, "", "between steps", "peak of a pass")
	// The most that a rank may need, in parts of P.
	bounds := []memory{{Between: 402, Peak: 410}, {Between: 202, Peak: 290}, {Between: 202, Peak: 240}, {Between: 102, Peak: 135}}
	for zero, bound := range bounds {
		for r, ranks := range all {
			m := ranks[zero]
			if r == 0 {
				name := fmt.Sprint("ZeRO ", zero)
				if zero == 0 {
					name = "one process"
				}
				fmt.Fprintf(&table, "%-12s %9d %.2f P         %9d %.2f P\n", name, m.Between, float64(m.Between)/p, m.Peak, float64(m.Peak)/p)
			}
			if m.Between*100 > bound.Between*p || m.Peak*100 > bound.Peak*p {
				t.Errorf("ZeRO %d, rank %d: %.2f P between steps and %.2f P at the peak, want at most %.2f P and %.2f P", zero, r, float64(m.Between)/p, float64(m.Peak)/p, float64(bound.Between)/100, float64(bound.Peak)/100)
			}
		}
	}
	t.Log("\n" + table.String())
}

// partsModel is a module with parameters of several types. Replica 1 uses one more of them than replica 0, and
// none uses the last.
type partsModel struct {
	*parts    `nn:""`
	sometimes bool
}

func (m *partsModel) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := x.MatMul(m.First).Tanh().MatMul(m.Twice).Sigmoid().MatMul(m.Twice)
	if m.sometimes {
		h = h.Add(m.Sometimes)
	}
	return h.MatMul(m.Half).Cast(tensor.Float64).Mul(m.Double)
}

// TestZeROOfEachType compares parameters of each type, after steps of SGD with weight decay, with those of one
// process. A parameter without a gradient on any replica must not decay.
func TestZeROOfEachType(t *testing.T) {
	const replicas, steps = 2, 3
	input := func(rank int) *tensor.Tensor { return tensor.Randn(tensor.NewGenerator(uint64(rank+10)), 4, 3) }
	target := tensor.Zeros(4, 2).Cast(tensor.Float64)
	optimizer := func(m any) *optim.Optimizer {
		return optim.SGD(m, 0.1, optim.WeightDecay(0.1))
	}
	want := newParts(1)
	opt := optimizer(want)
	for range steps {
		opt.ZeroGrad()
		for r := range replicas {
			m := &partsModel{want, r == 1}
			nn.MSE(m.Forward(input(r)), target).MulScalar(1. / replicas).Backward()
		}
		opt.Step()
	}
	all := ranks(t, replicas, Bucket(100))
	made := meshes(t, all, MeshShape{replicas, 1, 1})
	models := []nn.Module{&partsModel{newParts(1), false}, &partsModel{newParts(2), true}}
	mustEach(t, all, func(ctx context.Context, g *Group) error {
		shared, err := Distribute(ctx, made[g.Rank()], models[g.Rank()])
		if err != nil {
			return err
		}
		opt := optimizer(shared)
		for range steps {
			opt.ZeroGrad()
			if _, err := shared.Backward(ctx, input(g.Rank()), target, nn.MSE, 1./replicas); err != nil {
				return err
			}
			opt.Step()
		}
		whole, err := shared.FullState(ctx)
		if err != nil {
			return err
		}
		for _, p := range nn.State(want) {
			tolerance := map[tensor.DType]float64{tensor.BFloat16: 0.02, tensor.Float32: 1e-4, tensor.Float64: 1e-4}[p.DType()] // bfloat16 rounds what the others depend on
			got := whole[p.Name]
			if got.DType() != p.DType() {
				return fmt.Errorf("%s is %v, want %v", p.Name, got.DType(), p.DType())
			}
			for i, v := range p.Float64s() {
				if d := got.Float64s()[i] - v; d > tolerance || d < -tolerance {
					return fmt.Errorf("%s[%d] is %v, want %v", p.Name, i, got.Float64s()[i], v)
				}
			}
		}
		return nil
	})
}
