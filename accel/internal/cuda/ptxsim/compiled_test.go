package ptxsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randoms(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = r.Float32() - 0.5
	}
	return v
}

func TestAxpy(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.file("basic.ptx").Kernel("axpy")
	const n = 10007
	x, y := randoms(n, 1), randoms(n, 2)
	dx, dy := put(m, x), put(m, y)
	m.run(k, Dim{X: 16}, Dim{X: 256}, dy, dx, float32(2), n)
	for i, got := range get[float32](m, dy, n) {
		if want := float32(2*float64(x[i]) + float64(y[i])); got != want {
			t.Fatalf("y[%d] = %v, want %v", i, got, want)
		}
	}
}

func TestRowSum(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.file("basic.ptx").Kernel("rowsum")
	const rows, columns = 5, 777
	in := make([]uint16, rows*columns)
	want := make([]float64, rows)
	for i, v := range randoms(len(in), 3) {
		in[i] = uint16(math.Float32bits(v) >> 16)
		want[i/columns] += formatB16.decode(uint64(in[i]))
	}
	out := m.alloc(4 * rows)
	m.run(k, Dim{X: rows}, Dim{X: 128}, out, put(m, in), columns)
	for i, got := range get[float32](m, out, rows) {
		if math.Abs(float64(got)-want[i]) > 1e-4 {
			t.Errorf("row %d: %v, want %v", i, got, want[i])
		}
	}
}

func TestSgemm(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.file("basic.ptx").Kernel("sgemm")
	const n = 64
	a, b := randoms(n*n, 4), randoms(n*n, 5)
	c := m.alloc(4 * n * n)
	m.run(k, Dim{X: n / 32, Y: n / 32}, Dim{X: 32, Y: 8}, c, put(m, a), put(m, b), n)
	for i, got := range get[float32](m, c, n*n) {
		want := 0.0
		for p := range n {
			want += float64(a[i/n*n+p]) * float64(b[p*n+i%n])
		}
		if math.Abs(float64(got)-want) > 1e-5 {
			t.Fatalf("c[%d] = %v, want %v", i, got, want)
		}
	}
}

func TestCollatz(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.file("basic.ptx").Kernel("collatz")
	const n = 1000
	start := make([]uint32, n)
	for i := range start {
		start[i] = uint32(i + 1)
	}
	out := m.alloc(4 * n)
	m.run(k, Dim{X: 4}, Dim{X: 256}, out, put(m, start), n)
	for i, got := range get[uint32](m, out, n) {
		want := uint32(0)
		for v := uint64(start[i]); v > 1; want++ {
			if v%2 == 0 {
				v /= 2
			} else {
				v = 3*v + 1
			}
		}
		if got != want {
			t.Fatalf("steps from %d: %d, want %d", start[i], got, want)
		}
	}
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.file("basic.ptx").Kernel("histogram")
	const n = 20000
	values, want := make([]byte, n), make([]uint32, 256)
	r := rand.New(rand.NewPCG(6, 6))
	for i := range values {
		values[i] = byte(r.NormFloat64()*20 + 128)
		want[values[i]]++
	}
	bins := put(m, make([]uint32, 256))
	m.run(k, Dim{X: 7}, Dim{X: 192}, bins, put(m, values), n)
	if got := get[uint32](m, bins, 256); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.file("basic.ptx").Kernel("sort8")
	const threads = 96
	v := make([]int32, 8*threads)
	for i := range v {
		v[i] = rand.Int32() - 1<<30
	}
	d := put(m, v)
	m.run(k, Dim{}, Dim{X: threads}, d, put(m, []byte{3, 1, 4, 0, 5, 2, 7, 6}))
	for i := range threads {
		slices.Sort(v[8*i : 8*i+8])
	}
	if got := get[int32](m, d, len(v)); !slices.Equal(got, v) {
		t.Errorf("got %v\nwant %v", got[:16], v[:16])
	}
}

func BenchmarkSgemm(b *testing.B) {
	m := newSimulator(b)
	k := m.file("basic.ptx").Kernel("sgemm")
	const n = 256
	x, y, z := put(m, randoms(n*n, 1)), put(m, randoms(n*n, 2)), m.alloc(4*n*n)
	var steps int64
	for b.Loop() {
		steps += m.run(k, Dim{X: n / 32, Y: n / 32}, Dim{X: 32, Y: 8}, z, x, y, n).Steps
	}
	b.ReportMetric(float64(32*steps)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

func BenchmarkAxpy(b *testing.B) {
	m := newSimulator(b)
	k := m.file("basic.ptx").Kernel("axpy")
	const n = 1 << 20
	x, y := put(m, randoms(n, 1)), put(m, randoms(n, 2))
	var steps int64
	for b.Loop() {
		steps += m.run(k, Dim{X: 64}, Dim{X: 256}, y, x, float32(2), n).Steps
	}
	b.ReportMetric(float64(32*steps)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}
