package ptx

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/ptxsim"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// operationOf returns the op with the given name; arity returns its number of inputs.
func operationOf(name string) ir.Op {
	for _, op := range ir.Table() {
		if op.Name() == name {
			return op
		}
	}
	panic("there is no op " + name)
}

func hasScalar(op ir.Op) bool {
	_, ok := op.(ir.Dynamic)
	return ok
}

func arity(name string) int {
	switch name {
	case "Fill":
		return 0
	case "Add", "And", "Div", "Eq", "GELUGradient", "GELUTanhGradient", "Greater", "Maximum", "Minimum", "Mul", "Or", "Pow", "ReLUGradient", "Sub":
		return 2
	case "Where":
		return 3
	}
	return 1
}

// machine is the simulated memory in which a kernel runs.
type machine struct {
	t      testing.TB
	memory *ptxsim.Memory
}

func newMachine(t testing.TB) machine { return machine{t, ptxsim.NewMemory(1 << 28)} }

func (m machine) put(b []byte) driver.Pointer {
	p, err := m.memory.Alloc(max(len(b), 1))
	if err != nil {
		m.t.Fatal(err)
	}
	if err := m.memory.Write(uint64(p), b); err != nil {
		m.t.Fatal(err)
	}
	return driver.Pointer(p)
}

// run returns the number of instructions that warps executed.
func (m machine) run(text string, l driver.Launch) int64 {
	m.t.Helper()
	module, err := ptxsim.Parse(text)
	if err != nil {
		m.t.Fatalf("%v\n%s", err, text)
	}
	loaded, err := m.memory.Load(module)
	if err != nil {
		m.t.Fatal(err)
	}
	stats, err := loaded.Kernel(Entry).Run(m.t.Context(), ptxsim.Launch{Grid: ptxsim.Dim(l.Grid), Block: ptxsim.Dim(l.Block), Params: l.Params})
	if err != nil {
		m.t.Fatalf("%v\n%s", err, text)
	}
	return stats.Steps
}

func singles(values []float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

// apply runs one op on columns of float32.
func apply(t *testing.T, op ir.Op, s float64, columns ...[]float64) []float64 {
	t.Helper()
	n := len(columns[0])
	m := newMachine(t)
	step := ir.Step{Shape: []int{n}, Loop: []ir.Instr{{Op: op}}, Out: []ir.Operand{{Slot: len(columns), DType: ir.Float32, Layout: ir.RowMajor([]int{n})}}}
	var at []driver.Pointer
	for i, c := range columns {
		at = append(at, m.put(singles(c)))
		step.In = append(step.In, ir.Operand{Slot: i, DType: ir.Float32, Layout: ir.RowMajor([]int{n})})
		step.Loop[0].Args = append(step.Loop[0].Args, i)
	}
	y := m.put(make([]byte, 4*n))
	at = append(at, y)
	words := m.put(binary.LittleEndian.AppendUint64(nil, math.Float64bits(s)))
	l, err := New(step, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.run(l.PTX, l.Launch(func(o ir.Operand) driver.Pointer { return at[o.Slot] }, words, nil))
	b := make([]byte, 4*n)
	if err := m.memory.Read(b, uint64(y)); err != nil {
		t.Fatal(err)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out
}

// numbers returns special float32 values, then random ones of all magnitudes.
func numbers(r *rand.Rand, n int) []float64 {
	special := []float64{0, math.Copysign(0, -1), 1, -1, .5, -.5, 2, -2, 3, -3, .3, -.35, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-40, -1e-40, 88.7, 89, -87.5, -103.9, -104.5, 1e10, 16777216, 16777215, 1e38, math.Pi}
	out := make([]float64, n)
	for i := range out {
		switch {
		case i < len(special):
			out[i] = special[i]
		case i%4 == 0:
			out[i] = float64(math.Float32frombits(r.Uint32()))
		case i%4 == 1:
			out[i] = r.NormFloat64()
		case i%4 == 2:
			out[i] = 1 + r.NormFloat64()/100
		default:
			out[i] = 20 * r.NormFloat64()
		}
		out[i] = float64(float32(out[i]))
	}
	return out
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func normalDistribution(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// definitions are the float64 reference of each op.
var definitions = map[string]func(a, b, c, s float64) float64{
	"Abs":       func(a, _, _, _ float64) float64 { return math.Abs(a) },
	"Add":       func(a, b, _, _ float64) float64 { return a + b },
	"AddScalar": func(a, _, _, s float64) float64 { return a + s },
	"And":       func(a, b, _, _ float64) float64 { return b2f(a != 0 && b != 0) },
	"AtLeast":   func(a, _, _, s float64) float64 { return max(a, s) },
	"AtMost":    func(a, _, _, s float64) float64 { return min(a, s) },
	"Cast":      func(a, _, _, _ float64) float64 { return a },
	"Cos":       func(a, _, _, _ float64) float64 { return math.Cos(a) },
	"Div":       func(a, b, _, _ float64) float64 { return a / b },
	"ELU": func(a, _, _, s float64) float64 {
		if a > 0 {
			return a
		}
		return s * math.Expm1(a)
	},
	"Eq":    func(a, b, _, _ float64) float64 { return b2f(a == b) },
	"Erf":   func(a, _, _, _ float64) float64 { return math.Erf(a) },
	"Exp":   func(a, _, _, _ float64) float64 { return math.Exp(a) },
	"Expm1": func(a, _, _, _ float64) float64 { return math.Expm1(a) },
	"Fill":  func(_, _, _, s float64) float64 { return s },
	"Floor": func(a, _, _, _ float64) float64 { return math.Floor(a) },
	"GELU": func(a, _, _, _ float64) float64 {
		if math.IsInf(a, -1) {
			return 0
		}
		return a * normalDistribution(a)
	},
	"GELUGradient": func(a, b, _, _ float64) float64 {
		density := math.Exp(-b*b/2) / math.Sqrt(2*math.Pi)
		if density == 0 {
			return a * normalDistribution(b)
		}
		return a * (normalDistribution(b) + b*density)
	},
	"Greater": func(a, b, _, _ float64) float64 { return b2f(a > b) },
	"LeakyReLU": func(a, _, _, s float64) float64 {
		if a > 0 {
			return a
		}
		return s * a
	},
	"Log":       func(a, _, _, _ float64) float64 { return math.Log(a) },
	"Log1p":     func(a, _, _, _ float64) float64 { return math.Log1p(a) },
	"Maximum":   func(a, b, _, _ float64) float64 { return max(a, b) },
	"Minimum":   func(a, b, _, _ float64) float64 { return min(a, b) },
	"Mul":       func(a, b, _, _ float64) float64 { return a * b },
	"MulScalar": func(a, _, _, s float64) float64 { return a * s },
	"Neg":       func(a, _, _, _ float64) float64 { return -a },
	"Not":       func(a, _, _, _ float64) float64 { return b2f(a == 0) },
	"Or":        func(a, b, _, _ float64) float64 { return b2f(a != 0 || b != 0) },
	"Pow":       func(a, b, _, _ float64) float64 { return math.Pow(a, b) },
	"PowScalar": func(a, _, _, s float64) float64 { return math.Pow(a, s) },
	"ReLU":      func(a, _, _, _ float64) float64 { return max(a, 0) },
	"ReLUGradient": func(a, b, _, _ float64) float64 {
		if b > 0 {
			return a
		}
		return 0
	},
	"Round":   func(a, _, _, _ float64) float64 { return math.RoundToEven(a) },
	"SiLU":    func(a, _, _, _ float64) float64 { return a / (1 + math.Exp(-a)) },
	"Sigmoid": func(a, _, _, _ float64) float64 { return 1 / (1 + math.Exp(-a)) },
	"Sin":     func(a, _, _, _ float64) float64 { return math.Sin(a) },
	"Sqrt":    func(a, _, _, _ float64) float64 { return math.Sqrt(a) },
	"Square":  func(a, _, _, _ float64) float64 { return a * a },
	"Sub":     func(a, b, _, _ float64) float64 { return a - b },
	"Tanh":    func(a, _, _, _ float64) float64 { return math.Tanh(a) },
	"Where": func(a, b, c, _ float64) float64 {
		if a != 0 {
			return b
		}
		return c
	},
}

func init() { // ops that state a formula are defined by it
	for _, op := range ir.Table() {
		f, ok := ir.FormulaOf(op)
		if !ok || definitions[op.Name()] != nil {
			continue
		}
		definitions[op.Name()] = func(a, b, c, s float64) float64 {
			e := ir.Arithmetic[float64]{
				Inputs:   []float64{a, b, c},
				Scalar:   func() float64 { return s },
				Constant: func(v float64) float64 { return v },
				Apply: func(op ir.Op, x []float64) float64 {
					x = append(x, 0, 0)
					return definitions[op.Name()](x[0], x[1], x[2], 0)
				},
			}
			return e.Evaluate(f)
		}
	}
}

// cancels has the ops with a sum of larger numbers, with the error that this adds, relative to the first input. 1 + tanh has no more
// digits in PyTorch either.
var cancels = map[string]float64{"GELUGradient": 2e-7, "GELUTanh": 2e-7, "GELUTanhGradient": 2e-6}

// TestOperations compares every op with its float64 reference, within a few ULP of float32.
func TestOperations(t *testing.T) {
	for _, op := range ir.Table() {
		if Supports(op) != (definitions[op.Name()] != nil) {
			t.Errorf("%s has a definition here, or a kernel, but not both", op.Name())
		}
	}
	for name, want := range definitions {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			arity := arity(name)
			const n = 1500
			columns := [][]float64{numbers(r, n)}
			for k := 1; k < arity; k++ {
				columns = append(columns, numbers(r, n))
			}
			if strings.HasPrefix(name, "GELU") && arity == 2 { // a slope that underflows float32 cannot be multiplied by a large gradient
				for i := range columns[0] {
					columns[0][i] = float64(float32(r.NormFloat64()))
				}
			}
			for _, c := range columns[1:] { // pair the special values with each other
				r.Shuffle(n, func(i, j int) { c[i], c[j] = c[j], c[i] })
			}
			for _, s := range []float64{.5, -1, 2, 3, 0} {
				op := operationOf(name)
				if !hasScalar(op) && s != .5 {
					continue
				}
				got := apply(t, op, s, columns...)
				worst, at := 0., 0
				for i, y := range got {
					var x [3]float64
					for k := range columns {
						x[k] = columns[k][i]
					}
					w := want(x[0], x[1], x[2], s)
					if math.Abs(y-w) < cancels[name]*math.Abs(x[0]) {
						continue
					}
					if e := ulps(y, w); e > worst {
						worst, at = e, i
					}
				}
				if limit := 8.; worst > limit { // ex2.approx alone may be off by four
					var x []float64
					for _, c := range columns {
						x = append(x, c[at])
					}
					t.Errorf("%s(%v, scalar %g) is %g, off by %.3g ulp of %g", name, x, s, got[at], worst, want(columns[0][at], append(x, 0)[1], append(x, 0, 0)[2], s))
				}
			}
		})
	}
}

// ulps returns the distance of a float32 from a value in units in the last place, for denormal
// numbers in units of 2^-149.
func ulps(got, want float64) float64 {
	near := float64(float32(want))
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		return b2f(math.IsNaN(want) != math.IsNaN(got)) * math.Inf(1)
	case got == near:
		return 0
	case math.IsInf(near, 0) || math.IsInf(got, 0): // next to the largest finite value
		if math.Abs(got) > .99999*math.MaxFloat32 && math.Abs(near) > .99999*math.MaxFloat32 && got*near > 0 {
			return 1
		}
		return math.Inf(1)
	case math.Abs(got-want) < 1e-42: // computed from denormal numbers
		return 0
	}
	_, exponent := math.Frexp(near)
	return math.Abs(got-want) / math.Ldexp(1, max(exponent-24, -149))
}

func BenchmarkWrite(b *testing.B) {
	s := ir.Step{Shape: []int{1000}, In: []ir.Operand{{DType: ir.Float32, Layout: ir.RowMajor([]int{1000})}}, Out: []ir.Operand{{Slot: 1, DType: ir.Float32, Layout: ir.RowMajor([]int{1000})}}}
	for i := range 10 {
		s.Loop = append(s.Loop, ir.Instr{Op: ir.GELU{}, Args: []int{i}, Out: i/9 - 1})
	}
	for b.Loop() {
		if _, err := New(s, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// many returns a sum of n inputs, each with five dimensions that cannot be merged.
func many(n int) ir.Step {
	shape := []int{1, 2, 1, 2, 3, 2, 2}
	step := ir.Step{Shape: shape, Out: []ir.Operand{{Slot: n, DType: ir.Float32, Layout: ir.RowMajor(shape)}}}
	for i := range n {
		step.In = append(step.In, ir.Operand{Slot: i, DType: ir.Float32, Layout: ir.Layout{Shape: shape, Stride: []int{0, 1, 0, 5, 2, 7, 11}}})
		if last := n + i - 2; i > 0 {
			if i == 1 {
				last = 0
			}
			step.Loop = append(step.Loop, ir.Instr{Op: ir.Add{}, Args: []int{last, i}, Out: -1})
		}
	}
	step.Loop[n-2].Out = 0
	return step
}

// A kernel with many inputs has more bytes of parameters than PTX 7.0 allows. The simulator
// rejects that as ptxas does.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	for n, version := range map[int]string{10: ".version 7.0", 65: ".version 8.1"} {
		step := many(n)
		l, err := New(step, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(l.PTX, version+"\n") {
			t.Errorf("%d inputs: %q, want %q", n, l.PTX[:16], version)
		}
		m := newMachine(t)
		values := make([]float64, 30)
		for i := range values {
			values[i] = float64(i)
		}
		x, y := m.put(singles(values)), m.put(make([]byte, 4*48))
		m.run(l.PTX, l.Launch(func(o ir.Operand) driver.Pointer {
			if o.Slot == n {
				return y
			}
			return x
		}, 0, nil))
		got := make([]byte, 4)
		if err := m.memory.Read(got, uint64(y)+4*47); err != nil {
			t.Fatal(err)
		}
		if want := singles([]float64{float64(n * (1 + 5 + 2*2 + 7 + 11))}); !slices.Equal(got, want) {
			t.Errorf("%d inputs: got %x, want %x", n, got, want)
		}
		if _, err := ptxsim.Parse(strings.Replace(l.PTX, version, ".version 7.0", 1)); (err == nil) != (version == ".version 7.0") {
			t.Errorf("%d inputs as PTX 7.0: %v", n, err)
		}
	}
	if _, err := New(many(500), 0); err == nil || !strings.Contains(err.Error(), "bytes of parameters") {
		t.Errorf("too many inputs: %v", err)
	}
}
