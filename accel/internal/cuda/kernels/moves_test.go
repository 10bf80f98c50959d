package kernels

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// layouts are views: [shape, stride] and the offset.
var layouts = []ir.Layout{
	{Shape: []int{}, Stride: []int{}, Offset: 3},
	{Shape: []int{7}, Stride: []int{1}, Offset: 1},
	{Shape: []int{33}, Stride: []int{3}},
	{Shape: []int{5, 9}, Stride: []int{1, 5}},
	{Shape: []int{33, 40}, Stride: []int{1, 33}},
	{Shape: []int{3, 17, 35}, Stride: []int{17 * 40, 1, 17}, Offset: 2},
	{Shape: []int{4, 3, 5}, Stride: []int{0, 1, 3}},
	{Shape: []int{2, 3, 2, 3, 2}, Stride: []int{1, 2, 6, 12, 36}},
	{Shape: []int{0, 4}, Stride: []int{4, 1}},
	{Shape: []int{2, 3, 5, 16}, Stride: []int{240, 16, 48, 1}},
	{Shape: []int{3, 16}, Stride: []int{24, 1}, Offset: 8},
	{Shape: []int{3, 16}, Stride: []int{24, 1}, Offset: 4},
	{Shape: []int{3, 16}, Stride: []int{20, 1}, Offset: 4},
	{Shape: []int{3, 6}, Stride: []int{18, 1}},
	{Shape: []int{3, 16}, Stride: []int{0, 1}},
	{Shape: []int{3, 8}, Stride: []int{-8, 1}, Offset: 16},
}

func extent(l ir.Layout) int {
	n := l.Offset
	for i, d := range l.Shape {
		n += (d - 1) * max(l.Stride[i], 0)
	}
	return max(n, 0) + 1
}

func TestCopy(t *testing.T) {
	for _, d := range []ir.DType{ir.Uint8, ir.BFloat16, ir.Float32, ir.Int64} {
		for _, l := range layouts {
			m, x := newTestGPU(t), newArray(d, extent(l))
			for i := range x.data {
				x.data[i] = float64(i % 200)
			}
			y := m.alloc(ir.Len(l.Shape) * d.Size())
			launches, err := Copy{d.Size(), l}.Launches(y, m.put(x)+Pointer(l.Offset*d.Size()))
			if err != nil {
				t.Fatal(err)
			}
			m.run(launches)
			want := reference(t, ir.Copy{}, nil, []array{x}, []ir.Layout{l}, newArray(d, l.Shape...))
			compareArrays(t, m.get(y, d, l.Shape), want, 0)
		}
	}
}

// Elements that are next to each other share their divisions and their instructions.
func TestCopyInstructions(t *testing.T) {
	for _, row := range []struct {
		name   string
		dtype  ir.DType
		layout ir.Layout
		most   float64 // for each element
	}{
		{"heads next to each other again", ir.BFloat16, ir.Layout{Shape: []int{2, 64, 12, 64}, Stride: []int{12 * 64 * 64, 64, 64 * 64, 1}}, 15},
		{"heads, float32", ir.Float32, ir.Layout{Shape: []int{2, 64, 12, 64}, Stride: []int{12 * 64 * 64, 64, 64 * 64, 1}}, 30},
		{"columns of a wider table", ir.BFloat16, ir.Layout{Shape: []int{512, 64}, Stride: []int{192, 1}}, 12},
	} {
		m := newTestGPU(t)
		y := m.alloc(ir.Len(row.layout.Shape) * row.dtype.Size())
		launches, err := Copy{row.dtype.Size(), row.layout}.Launches(y, m.put(newArray(row.dtype, extent(row.layout))))
		if err != nil {
			t.Fatal(err)
		}
		m.run(launches)
		if got := float64(32*m.steps) / float64(ir.Len(row.layout.Shape)); got > row.most { // a real GPU counts none
			t.Errorf("%s: %.3g instructions for each element, at most %g are needed", row.name, got, row.most)
		}
	}
}

// TestCastEveryPair converts values that fit, values that do not, and NaN.
func TestCastEveryPair(t *testing.T) {
	hard := []float64{0, 1, -1, 2.5, -2.5, 255, 256, 1e5, -1e5, 2147483647, 2147483648, -2147483648, -2147483649, 1e18, 1e19, -1e19, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 65519, 65520, 6e-8, 1.0009765625, 3.0000001}
	for from := tensortype.Float32; from.Known(); from++ {
		for to := tensortype.Float32; to.Known(); to++ {
			x := newArray(from, len(hard))
			for i, v := range hard {
				switch {
				case from == ir.Bool:
					v = float64(i % 2)
				case from == ir.Uint8:
					v = math.Min(math.Abs(math.Trunc(v)), 255)
				case !from.IsFloat():
					v = math.Max(math.Min(math.Trunc(v), 2147483647), -2147483648)
				}
				if math.IsNaN(v) && !from.IsFloat() {
					v = 7
				}
				x.data[i] = number64(from, v)
			}
			m := newTestGPU(t)
			y := m.alloc(len(hard) * to.Size())
			launches, err := Cast{from, to, ir.RowMajor(x.shape)}.Launches(y, m.put(x))
			if err != nil {
				t.Fatal(err)
			}
			m.run(launches)
			var want array
			if to == ir.Float32 { // a fused kernel does this
				want = newArray(to, x.shape...)
				for i, v := range x.data {
					want.data[i] = number64(to, v)
				}
			} else {
				want = reference(t, ir.Cast{To: to}, nil, []array{x}, nil, newArray(to, x.shape...))
			}
			got := m.get(y, to, x.shape)
			for i := range want.data {
				if g, w := got.data[i], want.data[i]; g != w && !(math.IsNaN(g) && math.IsNaN(w)) {
					t.Errorf("%v of %v to %v is %v, want %v", x.data[i], from, to, g, w)
				}
			}
		}
	}
}

func TestCastOfLayouts(t *testing.T) {
	for _, l := range layouts {
		m, x := newTestGPU(t), random(generator(10), ir.Float32, extent(l))
		y := m.alloc(ir.Len(l.Shape) * 2)
		launches, err := Cast{ir.Float32, ir.BFloat16, l}.Launches(y, m.put(x)+Pointer(4*l.Offset))
		if err != nil {
			t.Fatal(err)
		}
		m.run(launches)
		want := reference(t, ir.Cast{To: ir.BFloat16}, nil, []array{x}, []ir.Layout{l}, newArray(ir.BFloat16, l.Shape...))
		compareArrays(t, m.get(y, ir.BFloat16, l.Shape), want, 0)
	}
}

func TestCompare(t *testing.T) {
	for _, d := range append(compareTypes, ir.Bool) {
		for _, greater := range []bool{false, true} {
			m, r := newTestGPU(t), generator(11)
			a, b := below(r, 3, 4, 33), below(r, 3, 33)
			a, b = a.as(d), b.as(d)
			if d == ir.Float64 {
				a.data[5], b.data[5], a.data[7] = math.NaN(), math.NaN(), math.Inf(1)
			}
			shape := []int{4, 33}
			y := m.alloc(4 * 33 * 4)
			launches, err := Compare{d, greater, ir.RowMajor(shape), ir.RowMajor(b.shape).BroadcastTo(shape)}.Launches(y, m.put(a), m.put(b))
			if err != nil {
				t.Fatal(err)
			}
			m.run(launches)
			var op ir.Op = ir.Eq{}
			if greater {
				op = ir.Greater{}
			}
			compareArrays(t, m.get(y, ir.Float32, shape), reference(t, op, nil, []array{a, b}, nil, newArray(ir.Float32, shape...)), 0)
		}
	}
	if _, err := (Compare{DType: ir.Float32}).Launches(0, 0, 0); err == nil {
		t.Error("got no error for float32, which fused kernels compare")
	}
}

func TestConcatAndPad(t *testing.T) {
	for _, d := range []ir.DType{ir.Float32, ir.BFloat16, ir.Float64, ir.Uint8} {
		for _, s := range [][4]int{{3, 5, 2, 1}, {2, 4, 8, 4}, {1, 3, 0, 7}, {4, 0, 3, 5}, {0, 3, 4, 5}} {
			m := newTestGPU(t)
			var in []array
			var bytes []int
			var at []Pointer
			for k := range 3 {
				a := below(generator(uint64(k)), 100, s[0], s[1+k], 2).as(d)
				in, at, bytes = append(in, a), append(at, m.put(a)), append(bytes, s[1+k]*2*d.Size())
			}
			want := newArray(d, s[0], s[1]+s[2]+s[3], 2)
			y := m.alloc(len(want.data) * d.Size())
			m.run(Concat{s[0], bytes}.Launches(y, at))
			compareArrays(t, m.get(y, d, want.shape), reference(t, ir.Concat{Axis: 1}, nil, in, nil, want), 0)

			op := ir.Pad{Axis: 1, Before: s[2], Size: s[1] + s[2] + s[3]}
			m.run(Pad{s[0], bytes[0], bytes[1], bytes[0] + bytes[1] + bytes[2]}.Launches(y, at[0]))
			compareArrays(t, m.get(y, d, want.shape), reference(t, op, nil, in[:1], nil, want), 0)
		}
	}
}

func TestGather(t *testing.T) {
	for _, d := range []ir.DType{ir.Float32, ir.BFloat16, ir.Float64, ir.Uint8} {
		for _, s := range [][3]int{{1, 1, 1}, {9, 5, 33}, {40, 3, 64}, {0, 3, 4}, {4, 2, 0}} {
			r := generator(12)
			m, x, index := newTestGPU(t), below(r, 100, s[1], s[2]).as(d), below(r, s[1], s[0])
			y := m.alloc(s[0] * s[2] * d.Size())
			m.run(Gather{s[0], s[1], s[2] * d.Size()}.Launches(y, m.put(x), m.put(index), m.fault()))
			want := reference(t, ir.IndexSelect{}, nil, []array{x, index}, nil, newArray(d, s[0], s[2]))
			compareArrays(t, m.get(y, d, want.shape), want, 0)
		}
	}
}

func TestOneHot(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {33, 5}, {7, 129}, {0, 3}} {
		m, index := newTestGPU(t), below(generator(13), s[1], s[0])
		y := m.alloc(s[0] * s[1] * 4)
		m.run(OneHot{s[0], s[1]}.Launches(y, m.put(index), m.fault()))
		compareArrays(t, m.get(y, ir.Float32, s[:]), reference(t, ir.OneHot{Classes: s[1]}, nil, []array{index}, nil, newArray(ir.Float32, s[0], s[1])), 0)
	}
}

func TestIndex(t *testing.T) {
	m, x := newTestGPU(t), below(generator(14), 50, 300).as(ir.Int64)
	y := m.alloc(300 * 4)
	m.run(Index{300, 50}.Launches(y, m.put(x), m.fault(), m.alloc(8)))
	compareArrays(t, m.get(y, ir.Int32, x.shape), x, 0)
}

// TestFaults puts two elements that are out of range into the input of each op that checks
// it: the first must be reported.
func TestFaults(t *testing.T) {
	index := below(generator(15), 10, 400)
	index.data[300], index.data[77] = 10, -4
	long := below(generator(15), 10, 400).as(ir.Int64)
	long.data[300], long.data[77] = 10, -1<<40
	numbers := random(generator(15), ir.Float64, 400)
	numbers.data[300], numbers.data[77] = math.NaN(), math.Inf(-1)
	for _, row := range []struct {
		name string
		what int32
		run  func(m *testGPU, fault Pointer) []Launch
	}{
		{"Gather", -4, func(m *testGPU, fault Pointer) []Launch {
			return Gather{400, 10, 12}.Launches(m.alloc(400*12), m.write(make([]byte, 120)), m.put(index), fault)
		}},
		{"Gather of empty rows", -4, func(m *testGPU, fault Pointer) []Launch {
			return Gather{400, 10, 0}.Launches(0, 0, m.put(index), fault)
		}},
		{"OneHot", -4, func(m *testGPU, fault Pointer) []Launch {
			return OneHot{400, 10}.Launches(m.alloc(400*40), m.put(index), fault)
		}},
		{"IndexAdd", -4, func(m *testGPU, fault Pointer) []Launch {
			o := ScatterAdd{ir.Float32, 400, 10, 3}
			return o.Launches(m.alloc(120), m.write(make([]byte, 400*12)), m.put(index), fault, m.alloc(o.Workspace()))
		}},
		{"CrossEntropy", -4, func(m *testGPU, fault Pointer) []Launch {
			o := CrossEntropy{DType: ir.Float32, Rows: 400, N: 10}
			return o.Launches(m.alloc(4), m.write(make([]byte, 16000)), m.put(index), fault, m.alloc(o.Workspace()))
		}},
		{"CrossEntropyGradient", -4, func(m *testGPU, fault Pointer) []Launch {
			o := CrossEntropy{DType: ir.Float32, Rows: 400, N: 10}
			return o.Gradient(m.alloc(16000), 0, m.write(make([]byte, 16000)), m.put(index), m.write(make([]byte, 4)), false, fault, 0)
		}},
		{"Index", 0, func(m *testGPU, fault Pointer) []Launch {
			return Index{400, 10}.Launches(m.alloc(1600), m.put(long), fault, m.alloc(8))
		}},
		{"Finite", 3, func(m *testGPU, fault Pointer) []Launch {
			return Finite{ir.Float64, 400}.Launches(m.alloc(3200), m.put(numbers), fault)
		}},
		{"Finite of float32", 3, func(m *testGPU, fault Pointer) []Launch {
			return Finite{ir.Float32, 400}.Launches(m.alloc(1600), m.put(numbers.as(ir.Float32)), fault)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newTestGPU(t)
			fault := m.write(binary.LittleEndian.AppendUint64(nil, NoFault))
			if err := m.try(row.run(m, fault)); err != nil {
				t.Fatal(err)
			}
			element, what, ok := Fault(binary.LittleEndian.Uint64(m.read(fault, 8)))
			if !ok || element != 77 || what != row.what {
				t.Errorf("got %d %d %v, want 77 %d true", element, what, ok, row.what)
			}
		})
	}
}

func TestIndexValue(t *testing.T) {
	m := newTestGPU(t)
	x := newArray(ir.Int64, 3)
	x.data[1] = -1 << 40
	value := m.alloc(8)
	if err := m.try(Index{3, 10}.Launches(m.alloc(12), m.put(x), m.write(binary.LittleEndian.AppendUint64(nil, NoFault)), value)); err != nil {
		t.Fatal(err)
	}
	if got := m.get(value, ir.Int64, nil); got.data[0] != -1<<40 {
		t.Errorf("the index is %v, want %v", got.data[0], -1<<40)
	}
}

func TestFinite(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, _ func(float64) float64) {
		m, x := newTestGPU(t), random(generator(16), d, 1000)
		y := m.alloc(1000 * d.Size())
		m.run(Finite{d, 1000}.Launches(y, m.put(x), m.fault()))
		compareArrays(t, m.get(y, d, x.shape), x, 0)
	})
}

// TestBernoulli compares with the bits of the CPU.
func TestBernoulli(t *testing.T) {
	for _, op := range []ir.Bernoulli{
		{Keep: 0.9, Scale: 1 / 0.9, Key: 0x123456789abcdef0, Counter: 1<<32 - 3, Shape: []int{1027}},
		{Keep: 0.5, Scale: 2, Key: 7, Counter: 1 << 40, Shape: []int{3, 5}},
		{Keep: 0, Scale: 1, Shape: []int{9}},
		{Keep: 1, Scale: 3, Shape: []int{9}},
		{Keep: 1, Scale: 3, Shape: []int{0}},
	} {
		m := newTestGPU(t)
		n := ir.Len(op.Shape)
		var words []byte
		for _, w := range op.AppendWords(nil) {
			words = binary.LittleEndian.AppendUint64(words, w)
		}
		y := m.alloc(4 * n)
		m.run(Bernoulli{n}.Launches(y, m.write(words)))
		want := reference(t, op, nil, nil, nil, newArray(ir.Float32, op.Shape...))
		if got := m.get(y, ir.Float32, op.Shape); !slices.Equal(got.data, want.data) {
			t.Errorf("%+v: the mask differs from the CPU's", op)
		}
	}
}
