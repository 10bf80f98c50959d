package cpu

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shareShapes are the products m×k·k×n of dense layers, attention and recurrent layers, and square ones.
var shareShapes = []struct{ m, k, n int }{
	{256, 256, 256},
	{512, 784, 512},
	{768, 768, 768},
	{1000, 1000, 1000},
	{1024, 1024, 1024},
	{2048, 2048, 2048},
	{128, 784, 256},
	{128, 256, 128},
	{128, 128, 10},
	{2048, 64, 2048},
	{2048, 128, 384},
	{512, 2048, 128},
	{32, 256, 1024},
	{256, 2048, 1024},
}

// shareLayouts are the layouts of a forward pass with weights [in, out], of one with weights [out, in], and
// of the gradient of a weight.
var shareLayouts = []struct {
	name string
	a, b bool // transposed
}{{"a·b", false, false}, {"a·bᵀ", false, true}, {"aᵀ·b", true, false}}

// shareLayers are the dense and recurrent layers of the trainings in accel/bench, with the rows of a batch.
var shareLayers = []struct {
	model         string
	rows, in, out int
}{
	{"mlp", 128, 784, 256}, {"mlp", 128, 256, 128}, {"mlp", 128, 128, 10},
	{"gpt-block", 2048, 128, 384}, {"gpt-block", 2048, 128, 128}, {"gpt-block", 2048, 128, 512}, {"gpt-block", 2048, 512, 128},
	{"transformer", 2048, 256, 768}, {"transformer", 2048, 256, 256}, {"transformer", 2048, 256, 1024}, {"transformer", 2048, 1024, 256},
	{"lstm", 2048, 256, 1024},
}

// BenchmarkShare reports the share of the CPU's peak that products reach; one thread by its CPU time, so that others who use
// the machine do not count, two by the clock, which needs an idle machine:
//
//	go test -run '^$' -bench Share -benchtime 0.3s ./accel/internal/cpu
//	GODEBUG=cpu.avx512f=off go test …    with the kernels of a CPU that has AVX2 only
func BenchmarkShare(b *testing.B) {
	for _, s := range shareShapes {
		for _, l := range shareLayouts {
			benchmarkShare(b, fmt.Sprintf("%dx%dx%d/%s", s.m, s.k, s.n, l.name), s.m, s.k, s.n, l.a, l.b)
		}
	}
	for _, l := range shareLayers { // with weights [out, in]
		name := fmt.Sprintf("%s/%dx%dx%d/", l.model, l.rows, l.in, l.out)
		benchmarkShare(b, name+"forward", l.rows, l.in, l.out, false, true)
		benchmarkShare(b, name+"input", l.rows, l.out, l.in, false, false)
		benchmarkShare(b, name+"weight", l.out, l.rows, l.in, true, false)
	}
}

func benchmarkShare(b *testing.B, name string, m, k, n int, transposedA, transposedB bool) {
	for threads := 1; threads <= 2; threads++ {
		b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
			d := New(threads)
			defer d.Close()
			g := newGEMM(d, m, n, k, dense(m, k, transposedA), dense(k, n, transposedB))
			g.c = stored(m * n)
			reportShare(b, d, 2*float64(m)*float64(n)*float64(k), g.run)
		})
	}
}

// stored returns memory of a tensor.
func stored(n int) []float32 {
	return unsafe.Slice((*float32)(newStorage(n*4).base), n)
}

// dense returns a random matrix without gaps.
func dense(rows, cols int, transposed bool) matrix {
	r := rand.New(rand.NewPCG(1, 2))
	m := matrix{data: stored(rows * cols), row: cols, col: 1}
	if transposed {
		m.row, m.col = 1, rows
	}
	for i := range m.data {
		m.data[i] = float32(r.NormFloat64())
	}
	return m
}

// reportShare runs f and the loop of Peak in turn and compares each run with the loops before and after it, since a CPU changes its
// frequency. It reports the last but one decile, of what others on the machine do not disturb. The peak of two threads is twice that of one.
func reportShare(b *testing.B, d *Device, flops float64, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	threads := d.pool.size
	now := threadTime
	if threads > 1 {
		start := time.Now()
		now = func() float64 { return time.Since(start).Seconds() }
	}
	f()
	least := 100e-6 // the clock's own time does not count then
	if threads > 1 {
		least = 3e-3 // nor does the start of a thread that has slept during the loop
	}
	repeat := 1
	for ; repeat < 1<<20; repeat *= 2 {
		start := now()
		for range repeat {
			f()
		}
		if now()-start > least {
			break
		}
	}
	var shares, peaks []float64
	before := spinSpeed(d.kernel)
	for b.Loop() {
		start := now()
		for range repeat {
			f()
		}
		each := (now() - start) / float64(repeat)
		after := spinSpeed(d.kernel)
		peak := float64(threads) * max(before, after)
		shares, peaks = append(shares, flops/each/peak), append(peaks, peak)
		before = after
	}
	slices.Sort(shares)
	slices.Sort(peaks)
	b.ReportMetric(peaks[len(peaks)/2]/1e9, "GFLOP/s-peak")
	b.ReportMetric(100*shares[len(shares)*9/10], "%peak")
}

// spinSpeed returns the floating-point operations per second of a kernel's loop in registers.
func spinSpeed(k gemmKernel) float64 {
	const rounds = 50_000
	start := threadTime()
	k.spin(rounds)
	return rounds * float64(k.spinFlops) / (threadTime() - start)
}

// threadTime returns the CPU time of this thread in seconds.
func threadTime() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return float64(t.Sec) + float64(t.Nsec)*1e-9
}
