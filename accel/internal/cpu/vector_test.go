package cpu

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func allVectors() []*vectors { return append(nativeVectors(), genericVectors) }

// special are all kinds of values that a vector function may get.
var special = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.3, 1e-20, -1e-20, 1e-40, -1e-40, 3, -3, 20, -20, 87, 88.6, 88.8, 90, 200, -87, -90, -103, -105, -200, 1e20, -1e20,
	math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}

// vectorRow is a vector function, its float64 reference, and the allowed error, relative to
// the larger of the result and floor.
type vectorRow struct {
	name      string
	f         func(v *vectors, d, a, b []float32)
	want      func(a, b float64) float64
	tolerance float64
	floor     float64
	scaled    bool // the floor is a multiple of |b|
}

const ulp = 1.0 / (1 << 23)

var vectorRows = []vectorRow{
	{"abs", func(v *vectors, d, a, _ []float32) { v.abs(d, a) }, func(a, _ float64) float64 { return math.Abs(a) }, 0, 0, false},
	{"exp", func(v *vectors, d, a, _ []float32) { v.exp(d, a) }, func(a, _ float64) float64 { return math.Exp(a) }, 1.5 * ulp, 1.2e-38, false},
	{"expSum", func(v *vectors, d, a, _ []float32) { v.expSum(d, a, 0.5, -1) }, func(a, _ float64) float64 { return math.Exp(a/2 - 1) }, 100 * ulp, 1.2e-38, false},
	{"weigh", func(v *vectors, d, a, b []float32) { v.weigh(d, a, b, 0, 2) }, func(a, b float64) float64 { return a * b * 2 }, ulp, 1.2e-38, false},
	{"tanh", func(v *vectors, d, a, _ []float32) { v.tanh(d, a) }, func(a, _ float64) float64 { return math.Tanh(a) }, 2 * ulp, 1.2e-38, false},
	{"sigmoid", func(v *vectors, d, a, _ []float32) { v.sigmoid(d, a) }, func(a, _ float64) float64 { return 1 / (1 + math.Exp(-a)) }, 3 * ulp, 1.2e-38, false},
	{"gelu", func(v *vectors, d, a, _ []float32) { v.gelu(d, a) }, geluReference, 8 * ulp, 1, false},
	{"geluGradient", func(v *vectors, d, a, b []float32) { v.geluGradient(d, b, a) }, func(a, b float64) float64 { return b * geluSlope(a) }, 8 * ulp, 1, true},
	{"relu", func(v *vectors, d, a, _ []float32) { v.relu(d, a) }, func(a, _ float64) float64 { return math.Max(a, 0) }, 0, 0, false},
	{"sqrt", func(v *vectors, d, a, _ []float32) { v.sqrt(d, a) }, func(a, _ float64) float64 { return math.Sqrt(a) }, ulp / 2, 0, false},
	{"add", func(v *vectors, d, a, b []float32) { v.add(d, a, b) }, func(a, b float64) float64 { return a + b }, ulp / 2, 1e-44, false},
	{"sub", func(v *vectors, d, a, b []float32) { v.sub(d, a, b) }, func(a, b float64) float64 { return a - b }, ulp / 2, 1e-44, false},
	{"mul", func(v *vectors, d, a, b []float32) { v.mul(d, a, b) }, func(a, b float64) float64 { return a * b }, ulp / 2, 1.2e-38, false},
	{"div", func(v *vectors, d, a, b []float32) { v.div(d, a, b) }, func(a, b float64) float64 { return a / b }, ulp / 2, 1.2e-38, false},
	{"maximum", func(v *vectors, d, a, b []float32) { v.maximum(d, a, b) }, func(a, b float64) float64 { return max(a, b) }, 0, 0, false},
	{"equal", func(v *vectors, d, a, b []float32) { v.equal(d, a, b) }, func(a, b float64) float64 { return truth(a == b) }, 0, 0, false},
	{"greater", func(v *vectors, d, a, b []float32) { v.greater(d, a, b) }, func(a, b float64) float64 { return truth(a > b) }, 0, 0, false},
	{"reluGradient", func(v *vectors, d, a, b []float32) { v.reluGradient(d, a, b) }, func(a, b float64) float64 {
		if b > 0 {
			return a
		}
		return 0
	}, 0, 0, false},
	{"biasReLU", func(v *vectors, d, a, b []float32) { v.biasReLU(d, a, b) }, func(a, b float64) float64 { return math.Max(a+b, 0) }, ulp / 2, 1e-44, false},
	{"addScalar", func(v *vectors, d, a, _ []float32) { v.addScalar(d, a, 1.5) }, func(a, _ float64) float64 { return a + 1.5 }, ulp / 2, 0, false},
	{"mulScalar", func(v *vectors, d, a, _ []float32) { v.mulScalar(d, a, -2.5) }, func(a, _ float64) float64 { return a * -2.5 }, ulp / 2, 1.2e-38, false},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func geluReference(x, _ float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x * normal(x)
}

func geluSlope(x float64) float64 {
	d := math.Exp(-0.5*x*x) / math.Sqrt(2*math.Pi)
	if d == 0 {
		return normal(x)
	}
	return normal(x) + x*d
}

// near reports whether got equals want within a relative tolerance; values beyond float32
// become infinite.
func near(got float32, want, tolerance, floor float64) bool {
	g := float64(got)
	switch w := float64(float32(want)); {
	case math.IsNaN(want) || math.IsNaN(g):
		return math.IsNaN(want) && math.IsNaN(g)
	case g == w:
		return true
	case math.IsInf(w, 0) || math.IsInf(g, 0): // at the limit of the range both are right
		return math.Signbit(g) == math.Signbit(w) && math.Abs(want) > math.MaxFloat32*(1-8*ulp) && math.Abs(g) > math.MaxFloat32*(1-8*ulp)
	}
	return math.Abs(g-want) <= tolerance*math.Max(math.Abs(want), floor)
}

func TestVectors(t *testing.T) {
	for _, v := range allVectors() {
		for _, row := range vectorRows {
			t.Run(v.name+"/"+row.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				var a, b []float32
				for _, x := range special {
					for _, y := range special {
						a, b = append(a, x), append(b, y)
					}
				}
				for range 20000 {
					a, b = append(a, float32(r.NormFloat64()*math.Exp(r.NormFloat64()*3))), append(b, float32(r.NormFloat64()))
				}
				d := make([]float32, len(a))
				row.f(v, d, a, b)
				for i := range d {
					floor := row.floor
					if row.scaled {
						floor *= math.Abs(float64(b[i]))
						if math.IsInf(floor, 0) {
							continue // if the slope rounds to zero, the result is NaN
						}
					}
					if want := row.want(float64(a[i]), float64(b[i])); !near(d[i], want, row.tolerance, floor) {
						t.Fatalf("%s(%g, %g) = %g, want %g", row.name, a[i], b[i], d[i], want)
					}
				}
				for n := range 70 {
					vectorLength(t, v, row, a[len(special)*len(special):], b[len(special)*len(special):], n)
				}
			})
		}
	}
}

// vectorLength checks that the results of n elements do not depend on their alignment, that
// memory around them does not change, and that d may be a.
func vectorLength(t *testing.T, v *vectors, row vectorRow, a, b []float32, n int) {
	t.Helper()
	const guard = 12345
	want := make([]float32, 128)
	row.f(v, want, a[:128], b[:128])
	d := make([]float32, n+40)
	for i := range d {
		d[i] = guard
	}
	row.f(v, d[20:20+n], a[:n], b[:n])
	for i, x := range d {
		switch {
		case i < 20 || i >= 20+n:
			if x != guard {
				t.Fatalf("%s of %d elements writes at %d", row.name, n, i-20)
			}
		case math.Float32bits(x) != math.Float32bits(want[i-20]):
			t.Fatalf("%s: element %d of %d is %g, of 128 it is %g", row.name, i-20, n, x, want[i-20])
		}
	}
	same := append([]float32{}, a[:n]...)
	row.f(v, same, same, b[:n])
	for i, x := range same {
		if math.Float32bits(x) != math.Float32bits(want[i]) {
			t.Fatalf("%s in place: element %d is %g, want %g", row.name, i, x, want[i])
		}
	}
}

func TestVectorSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, v := range allVectors() {
		for n := range 300 {
			a := make([]float32, n)
			want, size := 0.0, 0.0
			for i := range a {
				a[i] = float32(r.NormFloat64())
				want += float64(a[i])
				size += math.Abs(float64(a[i]))
			}
			if got := v.sum(a); !(math.Abs(got-want) <= size*1e-15) {
				t.Fatalf("%s: sum of %d elements is %v, want %v", v.name, n, got, want)
			}
			if got := v.sumFours(a); !(math.Abs(got-want) <= size*2*ulp) {
				t.Fatalf("%s: sum of %d elements in fours is %v, want %v", v.name, n, got, want)
			}
		}
		if x := v.sum([]float32{1, float32(math.NaN())}); x == x {
			t.Errorf("%s: the sum of NaN is %v", v.name, x)
		}
	}
}

func TestVectorLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	nan := float32(math.NaN())
	for _, v := range allVectors() {
		for n := range 100 {
			a := make([]float32, n)
			want := math.Inf(-1)
			for i := range a {
				a[i] = float32(-1 - r.Float64())
				want = math.Max(want, float64(a[i]))
			}
			if got := v.largest(a); float64(got) != want {
				t.Fatalf("%s: the largest of %d elements is %v, want %v", v.name, n, got, want)
			}
			for i := range a {
				b := append([]float32{}, a...)
				b[i] = nan
				want := float32(math.Inf(-1))
				for j, x := range a {
					if j != i {
						want = max(want, x)
					}
				}
				if got := v.largest(b); got != want {
					t.Fatalf("%s: with NaN at %d of %d the largest is %v, want %v", v.name, i, n, got, want)
				}
			}
		}
	}
}

// TestExpSumAdds compares the sum with the sum of the written values.
func TestExpSumAdds(t *testing.T) {
	for _, v := range allVectors() {
		for n := range 100 {
			a, d := make([]float32, n), make([]float32, n)
			for i := range a {
				a[i] = float32(i%17) - 20
			}
			got, want := float64(v.expSum(d, a, 0.25, 1)), 0.0
			for _, x := range d {
				want += float64(x)
			}
			if !(math.Abs(got-want) <= 1e-5*want) {
				t.Errorf("%s: the sum of %d is %v, want %v", v.name, n, got, want)
			}
		}
	}
}

func TestDivideBytes(t *testing.T) {
	bytes := make([]byte, 300)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	if n := testing.AllocsPerRun(10, func() {
		var a [64]byte
		var d [64]float32
		DivideBytes(d[:], a[:], 255)
	}); n > 0 {
		t.Errorf("%v objects escape", n)
	}
	for _, v := range append(allVectors(), &vectors{name: "DivideBytes", divideBytes: DivideBytes}) {
		for n := range 70 {
			for _, by := range []float32{255, 16, 1} {
				d := make([]float32, n+1)
				d[n] = 54321
				v.divideBytes(d[:n], bytes[n:], by)
				for i := range n {
					if want := float32(bytes[n+i]) / by; d[i] != want {
						t.Fatalf("%s: byte %d of %d by %v is %v, want %v", v.name, i, n, by, d[i], want)
					}
				}
				if d[n] != 54321 {
					t.Fatalf("%s: %d bytes overrun their end", v.name, n)
				}
			}
		}
	}
}

// TestFormulas compares what is written by hand for an op with its formula, on one element and
// with vectors.
func TestFormulas(t *testing.T) {
	for _, op := range ir.Table() {
		formula, ok := ir.FormulaOf(op)
		if !ok {
			continue
		}
		of := reflect.TypeOf(op)
		byHand := scalarOps[of]
		derived := derivedScalar(formula)
		for _, a := range special {
			for _, b := range special {
				x, y, s := float64(a), float64(b), 0.5
				want := derived(x, y, 0, s)
				if byHand != nil && !near(float32(byHand(x, y, 0, s)), want, ulp, 1e-44) {
					t.Errorf("%s of %v and %v is %v, by its formula %v", op.Name(), x, y, byHand(x, y, 0, s), want)
				}
			}
		}
	}
}
