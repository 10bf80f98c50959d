package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/cuda/nccl"
	registry "github.com/quernlab/quern/accel/internal/engine/devices"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/simulated"
	"github.com/quernlab/quern/accel/tensor"
)

// exchangesOfDevices are trainings on simulated GPUs that exchange with NCCL. The 258 elements of the model, in buckets of
// 200 bytes, are five buckets with ZeRO 1 and 2, and five with 3.
var exchangesOfDevices = []distributedTraining{
	{name: "NCCL, ZeRO 1", long: true, mesh: MeshShape{2, 1, 1}, device: simulatedNCCL, model: uneven, bucket: 200, steps: 2,
		calls: map[nccl.Op]int{nccl.ReduceScatter: 2 * 5, nccl.AllGather: 5}},
	// Two passes in each step. When the gradient of the embedding's result is computed, four buckets are on their way.
	{name: "NCCL, ZeRO 2", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(2)), device: simulatedNCCL, model: uneven, bucket: 200, batches: 2, steps: 2,
		calls: map[nccl.Op]int{nccl.ReduceScatter: 4 * 5, nccl.AllGather: 3 * 5}, seen: [][2]int{{0, 0}, {0, 4}, {5, 5}, {5, 9}, {10, 10}, {10, 14}, {15, 15}, {15, 19}}},
	// The parameters are gathered twice in each pass. When a layer is computed, those of the next one are on their way: of the first
	// dense layer in the forward pass, and of the embedding in the backward pass.
	{name: "NCCL, ZeRO 3", mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3)), device: simulatedNCCL, model: uneven, bucket: 200, batches: 2, steps: 2,
		calls: map[nccl.Op]int{nccl.ReduceScatter: 4 * 5, nccl.AllGather: 4 * 2 * 5}, seen: [][2]int{{2, 0}, {10, 4}, {12, 5}, {20, 9}, {22, 10}, {30, 14}, {32, 15}, {40, 19}}},
	{name: "NCCL, ZeRO 3, bfloat16", long: true, mesh: MeshShape{2, 1, 1}, options: only(ZeRO(3)), device: simulatedNCCL, model: uneven, autocast: true, tolerance: 5e-3, steps: 2},
	{name: "NCCL, tensor", long: true, mesh: MeshShape{1, 2, 1}, options: only(Split("2", "4")), device: simulatedNCCL, model: uneven, steps: 2,
		calls: map[nccl.Op]int{nccl.AllReduce: 2 * 2}},
	{name: "NCCL, pipeline", mesh: MeshShape{1, 1, 2}, options: only(MicroBatches(4)), device: simulatedNCCL, model: uneven, steps: 2,
		calls: map[nccl.Op]int{nccl.Send: 2 * 4, nccl.Recv: 2 * 4}},
	{name: "NCCL, dp × pp, ZeRO 3", long: true, mesh: MeshShape{2, 1, 2}, options: only(ZeRO(3), MicroBatches(2)), device: simulatedNCCL, model: uneven, steps: 2},
	{name: "NCCL, pipeline of 4", long: true, mesh: MeshShape{1, 1, 4}, options: only(MicroBatches(5)), device: simulatedNCCL, model: uneven, steps: 2},
	{name: "NCCL, pipeline of 4, few micro-batches", long: true, mesh: MeshShape{1, 1, 4}, options: only(MicroBatches(2)), device: simulatedNCCL, model: uneven, steps: 2},
	{name: "NCCL, tp × pp", long: true, mesh: MeshShape{1, 2, 2}, options: only(Split("2", "4"), MicroBatches(3), StagesAt(5)), device: simulatedNCCL, model: uneven, steps: 2},
	{name: "NCCL, ZeRO 2 on 4", long: true, mesh: MeshShape{4, 1, 1}, options: only(ZeRO(2)), device: simulatedNCCL, model: uneven, bucket: 200, steps: 2},
}

// uneven has parameters whose elements cannot be divided evenly by 2.
func uneven() nn.Module {
	return nn.Sequential(nn.Embedding(gptTokens, 5), counter{}, nn.Dense(6), nn.GELU(), nn.Dense(5), nn.Dense(gptTokens))
}

// counter is a layer that records how many times ranks have started to gather parameters and to sum gradients, when it is
// computed, and when its gradient is.
type counter struct{}

var (
	callsBefore map[nccl.Op]fakelib.Calls // those before the training
	callsSeen   [][2]int                  // what the counters have recorded since then
)

func (counter) Forward(x *tensor.Tensor) *tensor.Tensor {
	record := func() {
		now := callsOfNCCL()
		callsSeen = append(callsSeen, [2]int{
			now[nccl.AllGather].Calls - callsBefore[nccl.AllGather].Calls, now[nccl.ReduceScatter].Calls - callsBefore[nccl.ReduceScatter].Calls,
		})
	}
	record()
	return tensors.Exchange(x, nil, func(dy *tensor.Tensor) *tensor.Tensor {
		record()
		return dy
	})
}

// simulatedNCCL is a simulated GPU that exchanges with those of other ranks.
const simulatedNCCL = "simulated:NCCL"

// openedNCCL are the libraries that the GPU of this process has opened.
var openedNCCL []*fakelib.NCCL

func init() {
	registry.Register(simulatedNCCL, func() (ir.Device, error) {
		d, err := fake.Open(fake.Options{Memory: simulated.Memory})
		if err != nil {
			return nil, err
		}
		return cuda.Open(simulatedNCCL, d, 0, cuda.Libraries{NCCL: func(ctx driver.Context) (nccl.Library, error) {
			l := &fakelib.NCCL{Context: ctx.(fake.FuncLauncher)}
			openedNCCL = append(openedNCCL, l)
			return l, nil
		}})
	})
}

// callsOfNCCL returns the calls of this process so far.
func callsOfNCCL() map[nccl.Op]fakelib.Calls {
	all := map[nccl.Op]fakelib.Calls{}
	for op := nccl.AllReduce; op <= nccl.Recv; op++ {
		for _, l := range openedNCCL {
			one, sum := l.Count(op), all[op]
			all[op] = fakelib.Calls{Calls: sum.Calls + one.Calls, Bytes: sum.Bytes + one.Bytes}
		}
	}
	return all
}

// checkExchanges checks the calls of NCCL of a rank, and that parameters, gradients and activations do not pass through its host.
func (c distributedTraining) checkExchanges(t *testing.T, rank int, got, alone trained) {
	if c.device != simulatedNCCL {
		return
	}
	t.Logf("rank %d: %v, %d bytes to the host, %d to the device; alone %d and %d", rank, got.Calls, got.Copied.ToHost, got.Copied.ToDevice, alone.Copied.ToHost, alone.Copied.ToDevice)
	host := 4 * 258 / 2 // at most half of the model more than alone, for numbers such as the loss
	x, y := gptTokensOf(0, 0)
	for _, ranks := range []int{c.mesh.TP, c.mesh.PP} {
		if ranks > 1 { // they compare their batches
			host += c.steps * (len(x.Raw()) + len(y.Raw()))
		}
	}
	if got.Copied.ToHost > alone.Copied.ToHost+host || got.Copied.ToDevice > alone.Copied.ToDevice {
		t.Errorf("rank %d: %d bytes to the host and %d to the device, alone %d and %d", rank, got.Copied.ToHost, got.Copied.ToDevice, alone.Copied.ToHost, alone.Copied.ToDevice)
	}
	for op, n := range c.calls {
		if got.Calls[op].Calls != n {
			t.Errorf("rank %d: %d calls of %v, want %d", rank, got.Calls[op].Calls, op, n)
		}
	}
	if c.seen != nil && !slices.Equal(got.Seen, c.seen) {
		t.Errorf("rank %d: the counter has seen %v, want %v", rank, got.Seen, c.seen)
	}
}

func init() {
	rankTasks["missing on devices"] = func(ctx context.Context, g *Group) (any, error) {
		if err := tensors.SetDevice(simulatedNCCL); err != nil {
			return nil, err
		}
		mesh, err := Mesh(ctx, g, 2, 1, 1)
		if err != nil {
			return nil, err
		}
		shared, err := Distribute(ctx, mesh, distributedTraining{model: uneven}.newModel(5), ZeRO(2))
		if err != nil {
			return nil, err
		}
		x, y := gptTokensOf(0, 0)
		if _, err := shared.Backward(ctx, x, y, nn.CrossEntropy, 0.5); err != nil {
			return nil, err
		}
		if g.Rank() == 1 {
			<-g.broken
			return g.Err().Error(), nil
		}
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			for callsOfNCCL()[nccl.AllGather].Calls == 0 { // the second step begins with it
				runtime.Gosched()
			}
			cancel()
		}()
		_, err = shared.Backward(ctx, x, y, nn.CrossEntropy, 0.5)
		return fmt.Sprint(err, " ", errors.Is(err, context.Canceled)), nil
	}
}

// A device waits for a rank that does not take part until the context is done; then all ranks fail.
func TestMissingRankOnDevices(t *testing.T) {
	for rank, said := range onRanks[string](t, "missing on devices", 2) {
		want := []string{"parallel: step 2: parallel: exchange between devices on rank 0: context canceled true", "rank 0 ("}[rank]
		if !strings.HasPrefix(strings.TrimPrefix(said, "parallel: "), strings.TrimPrefix(want, "parallel: ")) {
			t.Errorf("rank %d: %s, want %s", rank, said, want)
		}
	}
}
