package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// fp8Matrix is a matrix rounded on the host: its bytes, and the exponent of its scale.
type fp8Matrix struct {
	dtype         ir.DType
	rows, columns int
	bytes         []byte
	exponent      int
}

func round8(d ir.DType, a array) fp8Matrix {
	largest := float32(0)
	for _, v := range a.data {
		if m := float32(math.Abs(v)); m > largest {
			largest = m
		}
	}
	e := fp8Matrix{d, a.shape[0], a.shape[1], nil, tensortype.Float8Scale(d, largest)}
	for _, v := range a.data {
		if math.IsInf(v, 0) {
			v = math.NaN()
		}
		e.bytes = append(e.bytes, tensortype.Float8Bits(d, float32(v)*float32(math.Ldexp(1, e.exponent))))
	}
	return e
}

func (e fp8Matrix) value(row, column int) float64 {
	return math.Ldexp(float64(tensortype.Float8Value(e.dtype, e.bytes[row*e.columns+column])), -e.exponent)
}

// packed allocates a packed matrix.
func (m *testGPU) packed(rows, columns int) Packed8 {
	pitch := ceil(columns, 16) * 16
	head := m.alloc(64 + rows*pitch)
	return Packed8{At: head + 64, Head: head, Pitch: int64(pitch)}
}

// pack uploads a matrix in the packed form.
func (m *testGPU) pack(e fp8Matrix) Packed8 {
	p := m.packed(e.rows, e.columns)
	m.overwrite(p.Head, binary.LittleEndian.AppendUint32(nil, uint32(int32(e.exponent))))
	for r := range e.rows {
		m.overwrite(p.At+Pointer(r*int(p.Pitch)), e.bytes[r*e.columns:(r+1)*e.columns])
	}
	return p
}

func TestRound8(t *testing.T) {
	for i, size := range some([][2]int{{1, 1}, {16, 64}, {3, 5}, {130, 65}, {64, 200}, {1, 2000}}) {
		for _, to := range []ir.DType{ir.Float8E4M3, ir.Float8E5M2} {
			for _, from := range []ir.DType{ir.Float32, ir.BFloat16, ir.Float16} {
				t.Run(fmt.Sprint(size, from, to), func(t *testing.T) {
					rows, columns := size[0], size[1]
					r := generator(31)
					x := random(r, from, rows, columns)
					for j := range x.data {
						x.data[j] = number64(from, x.data[j]*math.Ldexp(1, r.IntN(12)-6))
					}
					switch i {
					case 1:
						x.data[7], x.data[30] = math.NaN(), 0
					case 3:
						x.data[9], x.data[8000] = math.Inf(-1), math.Inf(1)
					case 2:
						clear(x.data)
					}
					m, want := newTestGPU(t), round8(to, x)
					o := Round8{from, to, rows, columns}
					y, plain, transposed := m.alloc(2*len(x.data)), m.packed(rows, columns), m.packed(columns, rows)
					launches, err := o.Launches(y, plain, transposed, m.put(x), m.alloc(o.Workspace()))
					if err != nil {
						t.Fatal(err)
					}
					m.run(launches)
					got := m.get(y, ir.BFloat16, x.shape)
					for _, p := range []Packed8{plain, transposed} {
						head := m.read(p.Head, 8)
						e, inverse := int(int32(binary.LittleEndian.Uint32(head))), math.Float32frombits(binary.LittleEndian.Uint32(head[4:]))
						if e != want.exponent || float64(inverse) != math.Ldexp(1, -e) {
							t.Fatalf("the exponent is %d and the inverse scale %v, want %d", e, inverse, want.exponent)
						}
					}
					for r := range rows {
						line := m.read(plain.At+Pointer(r*int(plain.Pitch)), columns)
						for c := range columns {
							w := want.bytes[r*columns+c]
							column := m.read(transposed.At+Pointer(c*int(transposed.Pitch)), rows)
							if v := want.value(r, c); math.IsNaN(v) {
								if !math.IsNaN(got.data[r*columns+c]) || !math.IsNaN(float64(tensortype.Float8Value(to, line[c]))) {
									t.Fatalf("element %d,%d is %v and %#x, want NaN", r, c, got.data[r*columns+c], line[c])
								}
								continue
							} else if got.data[r*columns+c] != v {
								t.Fatalf("element %d,%d is %v, want %v", r, c, got.data[r*columns+c], v)
							}
							if line[c] != w || column[r] != w {
								t.Fatalf("element %d,%d is packed as %#x and %#x, want %#x", r, c, line[c], column[r], w)
							}
						}
					}
				})
			}
		}
	}
}

// TestRound8OneOrder writes one memory order and nothing else.
func TestRound8OneOrder(t *testing.T) {
	m, x := newTestGPU(t), random(generator(3), ir.Float32, 20, 40)
	want, p := round8(ir.Float8E4M3, x), m.packed(40, 20)
	o := Round8{ir.Float32, ir.Float8E4M3, 20, 40}
	launches, err := o.Launches(0, Packed8{}, p, m.put(x), m.alloc(o.Workspace()))
	if err != nil {
		t.Fatal(err)
	}
	m.run(launches)
	for c := range 40 {
		for r, b := range m.read(p.At+Pointer(c*int(p.Pitch)), 20) {
			if w := want.bytes[r*40+c]; b != w {
				t.Fatalf("element %d,%d is %#x, want %#x", r, c, b, w)
			}
		}
	}
}

func TestMatMul8(t *testing.T) {
	type row struct {
		m, n, k              int
		bias, relu, output16 bool
	}
	rows := []row{{16, 16, 16, true, false, false}, {40, 24, 48, false, true, true}, {136, 130, 144, true, true, true}, {1, 16, 33, false, false, false}, {8, 16, 1500, true, false, true}, {70, 136, 300, false, false, false}}
	for _, hopper := range []bool{false, true} {
		for _, d := range []ir.DType{ir.Float8E4M3, ir.Float8E5M2} {
			for _, s := range some(rows) {
				t.Run(fmt.Sprint(hopper, d, s), func(t *testing.T) {
					r := generator(32)
					x, w := random(r, ir.Float32, s.m, s.k), random(r, ir.Float32, s.n, s.k)
					for i := range x.data {
						x.data[i] *= 1e-4
					}
					a, b := round8(d, x), round8(ir.Float8E4M3, w)
					to := ir.Float32
					if s.output16 {
						to = ir.BFloat16
					}
					bias := random(r, to, s.n)
					for i := range bias.data {
						bias.data[i] = number64(to, bias.data[i]*1e-3)
					}
					want := newArray(to, s.m, s.n)
					for i := range s.m {
						for j := range s.n {
							sum := 0.
							for k := range s.k {
								sum += a.value(i, k) * b.value(j, k)
							}
							if s.bias {
								sum += bias.data[j]
							}
							if s.relu {
								sum = max(sum, 0)
							}
							want.data[i*s.n+j] = sum
						}
					}
					m := newTestGPU(t)
					o := MatMul8{A: d, M: s.m, N: s.n, K: s.k, Bias: s.bias, ReLU: s.relu, Output16: s.output16, Hopper: hopper}
					y := m.alloc(len(want.data) * to.Size())
					launches, err := o.Launches(y, m.pack(a), m.pack(b), m.put(bias), m.alloc(o.Workspace()))
					if err != nil {
						t.Fatal(err)
					}
					m.run(launches)
					got := m.get(y, to, want.shape)
					// Tensor cores truncate each product at 2⁻¹³ of the largest number that
					// it is added to.
					tolerance := math.Ldexp(math.Sqrt(float64(s.k)), -13)
					if s.output16 {
						tolerance += 1.0 / 256
					}
					scale := 1e-4 * math.Sqrt(float64(s.k)) // scale of the sums
					for i, g := range got.data {
						if w := want.data[i]; !(math.Abs(g-w) <= tolerance*(scale+math.Abs(w))) {
							t.Fatalf("element %d is %v, want %v", i, g, w)
						}
					}
				})
			}
		}
	}
}
