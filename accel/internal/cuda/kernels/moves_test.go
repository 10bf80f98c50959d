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
			for k := range 3 {
				in = append(in, below(generator(uint64(k)), 100, s[0], s[1+k], 2).as(d))
			}
			want := newArray(d, s[0], s[1]+s[2]+s[3], 2)
			compareArrays(t, m.compute(ir.Concat{Axis: 1}, d, want.shape, in...), reference(t, ir.Concat{Axis: 1}, nil, in, nil, want), 0)

			op := ir.Pad{Axis: 1, Before: s[2], Size: s[1] + s[2] + s[3]}
			compareArrays(t, m.compute(op, d, want.shape, in[0]), reference(t, op, nil, in[:1], nil, want), 0)
		}
	}
}

func TestGather(t *testing.T) {
	for _, d := range []ir.DType{ir.Float32, ir.BFloat16, ir.Float64, ir.Uint8} {
		for _, s := range [][3]int{{1, 1, 1}, {9, 5, 33}, {40, 3, 64}, {0, 3, 4}, {4, 2, 0}} {
			r := generator(12)
			m, x, index := newTestGPU(t), below(r, 100, s[1], s[2]).as(d), below(r, s[1], s[0])
			want := reference(t, ir.IndexSelect{}, nil, []array{x, index}, nil, newArray(d, s[0], s[2]))
			compareArrays(t, m.compute(ir.IndexSelect{}, d, want.shape, x, index), want, 0)
		}
	}
}

func TestOneHot(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {33, 5}, {7, 129}, {0, 3}} {
		m, index := newTestGPU(t), below(generator(13), s[1], s[0])
		op := ir.OneHot{Classes: s[1]}
		compareArrays(t, m.compute(op, ir.Float32, s[:], index), reference(t, op, nil, []array{index}, nil, newArray(ir.Float32, s[0], s[1])), 0)
	}
}

func TestIndex(t *testing.T) {
	m, x := newTestGPU(t), below(generator(14), 50, 300).as(ir.Int64)
	compareArrays(t, m.compute(ir.Index{Size: 50}, ir.Int32, x.shape, x), x, 0)
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
	scores := newArray(ir.Float32, 400, 10)
	for _, row := range []struct {
		name  string
		what  int32
		op    ir.Op
		to    ir.DType
		shape []int
		in    []array
	}{
		{"Gather", -4, ir.IndexSelect{}, ir.Float32, []int{400, 3}, []array{newArray(ir.Float32, 10, 3), index}},
		{"Gather of empty rows", -4, ir.IndexSelect{}, ir.Float32, []int{400, 0}, []array{newArray(ir.Float32, 10, 0), index}},
		{"OneHot", -4, ir.OneHot{Classes: 10}, ir.Float32, []int{400, 10}, []array{index}},
		{"IndexAdd", -4, ir.IndexAdd{Rows: 10, Row: []int{3}}, ir.Float32, []int{10, 3}, []array{newArray(ir.Float32, 400, 3), index}},
		{"CrossEntropy", -4, ir.CrossEntropy{}, ir.Float32, nil, []array{scores, index}},
		{"CrossEntropyGradient", -4, ir.CrossEntropyGradient{}, ir.Float32, scores.shape, []array{scores, index, newArray(ir.Float32)}},
		{"Index", 0, ir.Index{Size: 10}, ir.Int32, []int{400}, []array{long}},
		{"Finite", 3, ir.Finite{}, ir.Float64, []int{400}, []array{numbers}},
		{"Finite of float32", 3, ir.Finite{}, ir.Float32, []int{400}, []array{numbers.as(ir.Float32)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newTestGPU(t)
			fault := m.noFault()
			_, launches := m.plan(row.op, row.to, row.shape, fault, row.in...)
			if err := m.try(launches); err != nil {
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
	fault := m.noFault()
	_, launches := m.plan(ir.Index{Size: 10}, ir.Int32, x.shape, fault, x)
	if err := m.try(launches); err != nil {
		t.Fatal(err)
	}
	if got := m.get(fault+8, ir.Int64, nil); got.data[0] != -1<<40 {
		t.Errorf("the index is %v, want %v", got.data[0], -1<<40)
	}
}

func TestFinite(t *testing.T) {
	eachReal(t, func(t *testing.T, d ir.DType, _ func(float64) float64) {
		m, x := newTestGPU(t), random(generator(16), d, 1000)
		compareArrays(t, m.compute(ir.Finite{}, d, x.shape, x), x, 0)
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
