package tensor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// matrixSize is the size of the square matrices of the random programs.
const matrixSize = 4

// tracked is a tensor with its expected elements.
type tracked struct {
	t     *Tensor
	want  array
	id    int
	moved bool // was the source of an Assign: reading it may panic
}

// machine runs a random program, given as bytes, on tensors and on the reference.
type machine struct {
	t     *testing.T
	r     *rand.Rand
	code  []byte
	pool  []tracked
	trace []string
	made  int
}

func (m *machine) next() int {
	if len(m.code) == 0 {
		return 0
	}
	b := m.code[0]
	m.code = m.code[1:]
	return int(b)
}

func (m *machine) pick() *tracked { return &m.pool[m.next()%len(m.pool)] }

func (m *machine) add(t *Tensor, want array) {
	x := tracked{t: t, want: want, id: m.made}
	m.made++
	m.log("  makes %d", x.id)
	if len(m.pool) < 24 {
		m.pool = append(m.pool, x)
		return
	}
	m.pool[m.next()%len(m.pool)] = x
}

func (m *machine) log(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

func (m *machine) fresh() array { return randomArray(m.r, -1, 1, matrixSize, matrixSize) }

// read compares one tensor with its reference.
func (m *machine) read(x *tracked) {
	var got []float64
	err := catch(func() { got = x.t.Float64s() })
	var state *StateError
	if errors.As(err, &state) && x.moved {
		return
	}
	if err != nil {
		m.t.Fatalf("%s\nreading: %v", strings.Join(m.trace, "\n"), err)
	}
	for i, g := range got {
		if w := x.want.data[i]; !(math.Abs(g-w) <= 1e-3*(1+math.Abs(w))) {
			m.t.Fatalf("%s\nreading %d: element %d is %v, want %v", strings.Join(m.trace, "\n"), x.id, i, g, w)
		}
	}
}

// usable reports whether reading a tensor does not panic.
func (m *machine) usable(x *tracked) bool {
	if !x.moved {
		return true
	}
	return catch(func() { x.t.Float64s() }) == nil
}

func (m *machine) step() {
	op := m.next() % 27
	a, b := m.pick(), m.pick()
	if !m.usable(a) || !m.usable(b) || !m.usable(a) { // reading b may run an update of a
		return
	}
	m.log("op %d on %d and %d", op, a.id, b.id)
	both := []array{a.want, b.want}
	switch op {
	case 0:
		m.add(a.t.Add(b.t).MulScalar(0.5), zipRef(func(x, y float64) float64 { return (x + y) / 2 })(both))
	case 1:
		m.add(a.t.Sub(b.t).Tanh(), zipRef(func(x, y float64) float64 { return math.Tanh(x - y) })(both))
	case 2:
		m.add(a.t.T(), permuteRef(1, 0)(both))
	case 3:
		m.add(a.t.ReLU(), mapRef(func(x float64) float64 { return math.Max(x, 0) })(both))
	case 4:
		m.add(a.t.MatMul(b.t).MulScalar(0.25), mapRef(func(x float64) float64 { return x / 4 })([]array{matmulRef(both)}))
	case 5:
		m.add(a.t.Detach(), a.want)
	case 6:
		m.add(a.t.Clone(), a.want)
	case 7:
		if a == b {
			return
		}
		a.t.Assign(b.t)
		a.want, a.moved, b.moved = b.want, false, true
	case 8:
		v := m.fresh()
		a.t.SetData(v.floats())
		a.want, a.moved = v, false
	case 9:
		Flush()
	case 10:
		m.read(a)
	case 11: // rotate the rows by one
		m.add(Concat(0, a.t.Slice(0, 1, matrixSize), a.t.Slice(0, 0, 1)), build([]int{matrixSize, matrixSize}, func(i []int) float64 {
			return a.want.get((i[0]+1)%matrixSize, i[1])
		}))
	case 12:
		m.add(a.t.Maximum(b.t), zipRef(math.Max)(both))
	case 13:
		m.add(a.t.Sub(a.t.Mean(0)), zipRef(func(x, y float64) float64 { return x - y })([]array{a.want,
			foldRef(0, func(v []float64) float64 { return total(v) / matrixSize })(both)}))
	case 14:
		m.add(a.t.Softmax(1), alongRef(1, softmaxLine)(both))
	case 15: // an in-place update
		a.t.Assign(a.t.Sub(b.t.MulScalar(0.1)).MulScalar(0.9))
		a.want = zipRef(func(x, y float64) float64 { return (x - 0.1*y) * 0.9 })(both)
		a.moved = false
	case 16: // an update that is not elementwise
		a.t.Assign(a.t.T().MatMul(b.t).Tanh())
		a.want = mapRef(math.Tanh)([]array{matmulRef([]array{permuteRef(1, 0)(both), b.want})})
		a.moved = false
	case 17:
		m.add(a.t.Reshape(2, -1).MulScalar(2).Reshape(matrixSize, matrixSize).MulScalar(0.5), a.want)
	case 18: // a training step
		p := Parameter(a.t.Clone())
		for range 2 {
			MSE(p.Mul(p), b.t).Backward()
		}
		m.add(p.Grad(), zipRef(func(x, y float64) float64 { return 2 * 4 * x * (x*x - y) / (matrixSize * matrixSize) })(both))
		NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(0.5))) })
		m.add(p.Detach(), zipRef(func(x, y float64) float64 { return x - 0.5*2*4*x*(x*x-y)/(matrixSize*matrixSize) })(both))
	case 19:
		if len(m.pool) < 4 {
			return
		}
		a.t.Release()
		*a = m.pool[len(m.pool)-1]
		m.pool = m.pool[:len(m.pool)-1]
	case 20:
		m.add(a.t.Flip(0).Roll(-1, 1), build([]int{matrixSize, matrixSize}, func(i []int) float64 {
			return a.want.get(matrixSize-1-i[0], (i[1]+1)%matrixSize)
		}))
	case 21:
		index := chosen(matrixSize, 2, matrixSize)
		m.add(a.t.Gather(0, index.ints()).Tile(2, 1), build([]int{matrixSize, matrixSize}, func(i []int) float64 {
			return a.want.get(int(index.get(i[0]%2, i[1])), i[1])
		}))
	case 22:
		index := chosen(matrixSize, matrixSize, 3)
		want := build([]int{matrixSize, matrixSize}, func(i []int) float64 { return a.want.get(i...) })
		each(index.shape, func(i []int) {
			want.data[i[0]*matrixSize+int(index.get(i...))] += b.want.get(i...)
		})
		m.add(a.t.ScatterAdd(1, index.ints(), b.t), want)
	case 23:
		m.add(a.t.Tanh().CumProd(1), alongRef(1, func(v []float64) []float64 {
			for i := range v {
				if v[i] = math.Tanh(v[i]); i > 0 {
					v[i] *= v[i-1]
				}
			}
			return v
		})(both))
	case 24:
		mask := chosen(2, matrixSize, matrixSize)
		m.add(a.t.MaskedFill(mask.ints().Cast(Float32), -0.5), zipRef(func(x, hidden float64) float64 {
			if hidden != 0 {
				return -0.5
			}
			return x
		})([]array{a.want, mask}))
	case 25:
		m.add(Concat(0, a.t.Split(3, 0)...).Median(1).Unsqueeze(-1).RepeatInterleave(matrixSize, 1), build([]int{matrixSize, matrixSize}, func(i []int) float64 {
			row := slices.Clone(a.want.data[i[0]*matrixSize : (i[0]+1)*matrixSize])
			slices.Sort(row)
			return row[(matrixSize-1)/2]
		}))
	case 26:
		m.add(a.t.Softplus().Log1p().Sub(b.t.Erf()), zipRef(func(x, y float64) float64 {
			return math.Log1p(math.Max(x, 0)+math.Log1p(math.Exp(-math.Abs(x)))) - math.Erf(y)
		})(both))
	}
}

func runProgram(t *testing.T, seed uint64, code []byte) {
	m := &machine{t: t, r: rand.New(rand.NewPCG(seed, 1)), code: code}
	for range 4 {
		v := m.fresh()
		m.add(New(v.floats(), matrixSize, matrixSize), v)
	}
	for len(m.code) > 0 {
		m.step()
	}
	for i := range m.pool {
		m.read(&m.pool[i])
	}
}

// FuzzProgram mixes ops, in-place updates, aliases, releases and flushes in random order, and
// compares every tensor with its reference.
func FuzzProgram(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 1, 15, 0, 1, 9, 15, 0, 1, 7, 0, 1, 7, 2, 1, 15, 0, 1})
	f.Add(uint64(2), []byte{5, 0, 0, 15, 0, 1, 9, 0, 0, 2, 0, 0, 15, 0, 1, 16, 0, 1})
	f.Add(uint64(3), []byte{18, 0, 1, 18, 2, 3, 9, 0, 0, 18, 0, 1, 7, 4, 5})
	f.Fuzz(func(t *testing.T, seed uint64, code []byte) {
		if len(code) > 600 {
			code = code[:600]
		}
		runProgram(t, seed, code)
	})
}

var randomPrograms = uint64(200)

func TestRandomPrograms(t *testing.T) { runPrograms(t, randomPrograms) }

// TestRandomProgramsInParts runs lists as if they did not fit into memory.
func TestRandomProgramsInParts(t *testing.T) {
	halve := func(on bool) { locked(func(r *ir.Recorder) { r.Halved(on) }) }
	halve(true)
	defer halve(false)
	runPrograms(t, randomPrograms/4)
}

func runPrograms(t *testing.T, n uint64) {
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 2))
		code := make([]byte, 300)
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		runProgram(t, seed, code)
	}
}
