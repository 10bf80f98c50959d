package tensor

import (
	"math"
	"testing"
	"time"
)

// BenchmarkMLPStep is one step of a 784-256-128-10 classifier with a batch of
// 256: forward, gradient and AdamW. The best step tells what the code can do
// on a machine that others use too.
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
	// The product that would give the input's gradient is not computed.
	const flops = 256 * (4*784*256 + 6*256*128 + 6*128*10)
	b.ReportMetric(best*1e6, "µs/best-step")
	b.ReportMetric(flops/best/1e9, "GFLOP/s-best")
}

// BenchmarkTinyStep is a step of so small a classifier that only recording and
// replaying take time.
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

// BenchmarkRecord is what an op costs before it runs.
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
