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
	opt := optim.AdamW(model, 1e-3)
	for range 3 {
		opt.ZeroGrad()
		m.Peak = tensors.PeakBytes(func() {
			if shared == nil {
				nn.MSE(model.Forward(x), x).Backward()
				tensor.Flush()
			} else {
				_, err = shared.Backward(ctx, x, x, nn.MSE, 1/float64(mesh.DP.Size()))
			}
		}) - before
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
