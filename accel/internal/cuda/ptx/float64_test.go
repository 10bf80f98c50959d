package ptx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// apply64 runs one op on columns of float64.
func apply64(t *testing.T, op ir.Op, s float64, columns ...[]float64) []float64 {
	t.Helper()
	n := len(columns[0])
	m := newMachine(t)
	bytes := func(values []float64) []byte {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	step := ir.Step{Op: op, Out: []ir.Operand{{Slot: len(columns), DType: ir.Float64, Layout: ir.RowMajor([]int{n})}}}
	var at []driver.Pointer
	for i, c := range columns {
		at = append(at, m.put(bytes(c)))
		step.In = append(step.In, ir.Operand{Slot: i, DType: ir.Float64, Layout: ir.RowMajor([]int{n})})
	}
	y := m.put(make([]byte, 8*n))
	at = append(at, y)
	words := m.put(bytes([]float64{s}))
	l, err := New(step, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.run(l.PTX, l.Launch(func(o ir.Operand) driver.Pointer { return at[o.Slot] }, words, nil))
	b := make([]byte, 8*n)
	if err := m.memory.Read(b, uint64(y)); err != nil {
		t.Fatal(err)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

// ulps64 returns the distance of got from want in units in the last place of want.
func ulps64(got, want float64) float64 {
	switch {
	case math.IsNaN(got) && math.IsNaN(want) || got == want:
		return 0
	case math.IsNaN(got) || math.IsNaN(want) || math.IsInf(got, 0) || math.IsInf(want, 0):
		return math.Inf(1)
	}
	_, exponent := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(exponent-53, -1074))
}

// TestFloat64AgainstMpmath compares with the 3600 correctly rounded values that
// testdata/float64.py wrote.
func TestFloat64AgainstMpmath(t *testing.T) {
	text, err := os.ReadFile("testdata/float64.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][3][]float64{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		r := rows[f[0]]
		for i, s := range f[1:] {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			r[i] = append(r[i], v)
		}
		rows[f[0]] = r
	}
	for name, limit := range map[string]float64{
		"Exp": 1, "Log": 1, "Tanh": 2.5, "Sigmoid": 2.5, "SiLU": 3, "ELU": 1.5, "GELU": 5, "GELUSlope": 6, "Sin": 1, "Cos": 1, "Pow": 2,
		"Erf": 2, "Expm1": 1.5, "Log1p": 4, "Softplus": 4,
	} {
		t.Run(name, func(t *testing.T) {
			r := rows[name]
			if len(r[0]) < 200 {
				t.Fatalf("%d numbers", len(r[0]))
			}
			var got []float64
			want := r[1]
			switch name {
			case "Pow":
				got, want = apply64(t, operationOf(name), 0, r[0], r[1]), r[2]
			case "ELU":
				got = apply64(t, operationOf(name), 1, r[0])
			case "GELUSlope":
				ones := make([]float64, len(r[0]))
				for i := range ones {
					ones[i] = 1
				}
				got = apply64(t, ir.GELUGradient{}, 0, ones, r[0])
			default:
				got = apply64(t, operationOf(name), 0, r[0])
			}
			worst, at := 0., 0
			for i, w := range want {
				if e := ulps64(got[i], w); e > worst {
					worst, at = e, i
				}
			}
			t.Logf("at most %.2g ulp", worst)
			if worst > limit {
				t.Errorf("%s(%v, %v) is %v, %.3g ulp from %v", name, r[0][at], r[1][at], got[at], worst, want[at])
			}
		})
	}
}

// TestFloat64Operations compares every op with its definition, above all for special values.
// TestFloat64AgainstMpmath tests the precision.
func TestFloat64Operations(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, .5, -.5, 2, -2, 3, -3, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
		1e300, -1e300, 1 << 53, 1<<53 - 1, -(1<<53 - 1), math.Pi, 20, -20, 1e-200, -1e-200}
	for name, want := range definitions {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, 5))
			var columns [3][]float64
			for _, a := range special {
				for _, b := range special {
					columns[0], columns[1], columns[2] = append(columns[0], a), append(columns[1], b), append(columns[2], r.NormFloat64())
				}
			}
			for range 500 {
				for k := range columns {
					columns[k] = append(columns[k], 3*r.NormFloat64())
				}
			}
			for _, s := range []float64{.5, -1, 2, 3, 0, math.Inf(1)} {
				op := operationOf(name)
				if !hasScalar(op) && s != .5 {
					continue
				}
				got := apply64(t, op, s, columns[:max(1, arity(name))]...)
				for i, y := range got {
					a, b, c := columns[0][i], columns[1][i], columns[2][i]
					w := want(a, b, c, s)
					near := ulps64(y, w) <= 8 || math.Abs(y-w) <= 1e-12*math.Abs(w)
					switch name {
					case "GELU", "GELUGradient", "SiLU": // whose definition here loses digits, or all where e^-x is infinite
						near = near || math.Abs(y-w) <= 1e-13*math.Abs(w) || math.Abs(y) < 1e-12 && math.Abs(w) < 1e-12 || math.IsNaN(w) && !math.IsNaN(y)
						near = near || name == "GELUGradient" && math.Abs(y-w) < 1e-15*math.Abs(a)
					}
					if !near {
						t.Fatalf("%s(%v, %v, %v, scalar %v) is %v, want %v", name, a, b, c, s, y, w)
					}
				}
			}
		})
	}
}

// TestFloat64Edges tests values next to 0 and infinity, where Go's own functions are not exact
// on every CPU.
func TestFloat64Edges(t *testing.T) {
	for _, tt := range []struct {
		op      string
		x, want float64
	}{
		{"Exp", 709.7827128933840, 1.797693134862273e308}, {"Exp", 709.7827128933842, math.Inf(1)}, {"Exp", -745.1, math.SmallestNonzeroFloat64},
		{"Exp", -745.2, 0}, {"Exp", -708.5, 2.0061323053313058e-308}, {"Log", math.SmallestNonzeroFloat64, -744.4400719213812},
		{"Log", math.MaxFloat64, 709.782712893384}, {"Sigmoid", -745.1, math.SmallestNonzeroFloat64}, {"Tanh", 1e-310, 1e-310},
		{"Sin", 1e-310, 1e-310}, {"Sin", math.MaxFloat64, 0.004961954789184062}, {"Cos", 5.319372648326541e255, -4.687165924254628e-19},
	} {
		got := apply64(t, operationOf(tt.op), 0, []float64{tt.x})[0]
		if e := ulps64(got, tt.want); e > 1 || math.Signbit(got) != math.Signbit(tt.want) {
			t.Errorf("%s(%v) is %v, %v ulp from %v", tt.op, tt.x, got, e, tt.want)
		}
	}
	for _, op := range []string{"Sin", "Tanh"} {
		if got := apply64(t, operationOf(op), 0, []float64{math.Copysign(0, -1)})[0]; got != 0 || !math.Signbit(got) {
			t.Errorf("%s(-0) is %v", op, got)
		}
	}
	if got := apply64(t, ir.ELU{}, 1, []float64{math.Copysign(0, -1)})[0]; got != 0 || !math.Signbit(got) {
		t.Errorf("ELU(-0) is %v", got)
	}
}
