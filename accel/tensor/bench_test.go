package tensor

import (
	"math"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// BenchmarkMLPStep is one step of a 784-256-128-10 classifier with a batch of 256: forward,
// backward and AdamW. The fastest step shows what the code can do even if the machine is shared.
func BenchmarkMLPStep(b *testing.B) {
	n := newMLP(NewGenerator(1), 256, 784, 256, 128, 10)
	for range 3 {
		n.train()
	}
	best := math.Inf(1)
	for b.Loop() {
		start := time.Now()
		n.train()
		best = min(best, time.Since(start).Seconds())
	}
	// The gradient of the input is not computed.
	const flops = 256 * (4*784*256 + 6*256*128 + 6*128*10)
	b.ReportMetric(best*1e6, "µs/best-step")
	b.ReportMetric(flops/best/1e9, "GFLOP/s-best")
}

// BenchmarkTinyStep is a step of so small a classifier that recording and replaying dominate.
func BenchmarkTinyStep(b *testing.B) {
	n := newMLP(NewGenerator(1), 1, 2, 2, 2, 2)
	for range 3 {
		n.train()
	}
	best := math.Inf(1)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		n.train()
		best = min(best, time.Since(start).Seconds())
	}
	b.ReportMetric(best*1e6, "µs/best-step")
}

// BenchmarkRecord measures the time to record an op.
func BenchmarkRecord(b *testing.B) {
	x, y := Zeros(1), Zeros(1)
	best := math.Inf(1)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range 1000 {
			x.Add(y).Release()
		}
		best = min(best, time.Since(start).Seconds()/1000)
		Flush()
	}
	b.ReportMetric(best*1e9, "ns/best-op")
}

// BenchmarkConv2D measures the layers of small networks for 28×28 and 14×14 images, and their
// gradients, with a batch of 128.
func BenchmarkConv2D(b *testing.B) {
	for _, layer := range []struct {
		name                  string
		c, o, size, k, groups int
	}{{"first", 1, 16, 28, 3, 1}, {"second", 16, 32, 14, 3, 1}, {"wide", 128, 128, 14, 3, 1}, {"depthwise", 64, 64, 14, 3, 64}} {
		g := NewGenerator(1)
		x, w, bias := Parameter(Randn(g, 128, layer.c, layer.size, layer.size)), Parameter(Randn(g, layer.o, layer.c/layer.groups, layer.k, layer.k)), Parameter(Zeros(layer.o))
		dy := Randn(g, 128, layer.o, layer.size, layer.size)
		window := ir.Conv2D{Stride: [2]int{1, 1}, Padding: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: layer.groups}
		flops := 2 * 128 * float64(layer.o*layer.size*layer.size*layer.c/layer.groups*layer.k*layer.k)
		for _, pass := range []struct {
			name string
			f    func() *Tensor
		}{
			{"forward", func() *Tensor { return record(window, x, w, bias) }},
			{"input", func() *Tensor {
				return record(ir.Conv2DInputGradient{Conv2D: window, H: layer.size, W: layer.size}, dy, w)
			}},
			{"weight", func() *Tensor {
				return record(ir.Conv2DWeightGradient{Conv2D: window, KH: layer.k, KW: layer.k}, x, dy)
			}},
		} {
			b.Run(layer.name+"/"+pass.name, func(b *testing.B) {
				best := math.Inf(1)
				for b.Loop() {
					start := time.Now()
					y := pass.f()
					Flush()
					best = min(best, time.Since(start).Seconds())
					y.Release()
				}
				b.ReportMetric(best*1e6, "µs/best")
				b.ReportMetric(flops/best/1e9, "GFLOP/s-best")
			})
		}
	}
}
