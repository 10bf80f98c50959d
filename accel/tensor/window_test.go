package tensor

import (
	"errors"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestHugeWindows calls each op with a window with arguments whose sums and products overflow an int.
// Those that fit have a result, all others are a *ShapeError or too large for the memory.
func TestHugeWindows(t *testing.T) {
	pair := func(n int) [2]int { return [2]int{n, n} }
	one := func(s ...int) *Tensor { return Ones(s...) }
	image := one(1, 1, 4, 4)
	for _, huge := range []int{1 << 31, 1 << 32, 1<<32 + 1, 1 << 61, 1 << 62, 1<<62 + 3, 1<<63 - 1} {
		for name, row := range map[string]struct {
			f    func(x *Tensor) *Tensor
			want float64 // the sum of the result, or 0 for an error
		}{
			"Conv2D dilation":          {func(x *Tensor) *Tensor { return Conv2D(x, one(1, 1, 5, 5), nil, Window{Dilation: pair(huge)}) }, 0},
			"Conv2D dilation of 2":     {func(x *Tensor) *Tensor { return Conv2D(x, one(1, 1, 2, 2), nil, Window{Dilation: pair(huge)}) }, 0},
			"Conv2D dilation of 1":     {func(x *Tensor) *Tensor { return Conv2D(x, one(1, 1, 1, 1), nil, Window{Dilation: pair(huge)}) }, 16},
			"Conv2D stride":            {func(x *Tensor) *Tensor { return Conv2D(x, one(1, 1, 3, 3), nil, Window{Stride: pair(huge)}) }, 9},
			"Conv2D stride and groups": {func(x *Tensor) *Tensor { return Conv2D(x, one(1, 1, 3, 3), nil, Window{Stride: pair(huge), Groups: 1}) }, 9},
			"Conv2D padding":           {func(x *Tensor) *Tensor { return Conv2D(x, one(1, 1, 3, 3), nil, Window{Padding: pair(huge)}) }, 0},
			"Conv1D dilation": {func(x *Tensor) *Tensor {
				return Conv1D(x.Reshape(1, 4, 4).Slice(1, 0, 1), one(1, 1, 5), nil, Window{Dilation: pair(huge)})
			}, 0},
			"Conv1D stride": {func(x *Tensor) *Tensor {
				return Conv1D(x.Reshape(1, 4, 4).Slice(1, 0, 1), one(1, 1, 3), nil, Window{Stride: pair(huge)})
			}, 3},
			"Conv3D dilation": {func(x *Tensor) *Tensor {
				return Conv3D(x.Reshape(1, 1, 4, 2, 2), one(1, 1, 2, 2, 2), nil, Window3D{Dilation: [3]int{huge, 1, 1}})
			}, 0},
			"Conv3D stride": {func(x *Tensor) *Tensor {
				return Conv3D(x.Reshape(1, 1, 4, 2, 2), one(1, 1, 2, 2, 2), nil, Window3D{Stride: [3]int{huge, huge, huge}})
			}, 8},
			"Conv3D padding": {func(x *Tensor) *Tensor {
				return Conv3D(x.Reshape(1, 1, 4, 2, 2), one(1, 1, 2, 2, 2), nil, Window3D{Padding: [3]int{huge, 0, 0}})
			}, 0},
			"MaxPool2D dilation": {func(x *Tensor) *Tensor {
				return MaxPool2D(x, pair(5), Window{Stride: pair(1), Dilation: pair(huge)})
			}, 0},
			"MaxPool2D dilation of 1": {func(x *Tensor) *Tensor { return MaxPool2D(x, pair(1), Window{Dilation: pair(huge)}) }, 16},
			"MaxPool2D stride":        {func(x *Tensor) *Tensor { return MaxPool2D(x, pair(3), Window{Stride: pair(huge)}) }, 1},
			"MaxPool2D kernel":        {func(x *Tensor) *Tensor { return MaxPool2D(x, pair(huge), Window{}) }, 0},
			"MaxPool2D padding": {func(x *Tensor) *Tensor {
				return MaxPool2D(x, pair(huge), Window{Padding: pair(huge / 2)})
			}, 0},
			"AvgPool2D stride": {func(x *Tensor) *Tensor { return AvgPool2D(x, pair(3), Window{Stride: pair(huge)}) }, 1},
			"AvgPool2D kernel": {func(x *Tensor) *Tensor { return AvgPool2D(x, pair(huge), Window{Padding: pair(huge / 2)}) }, 0},
			"ConvTranspose2D stride": {func(x *Tensor) *Tensor {
				return ConvTranspose2D(x, one(1, 1, 2, 2), nil, Window{Stride: pair(huge)}, [2]int{})
			}, 0},
			"ConvTranspose2D stride of one element": {func(x *Tensor) *Tensor {
				return ConvTranspose2D(x.Slice(2, 0, 1).Slice(3, 0, 1), one(1, 1, 2, 2), nil, Window{Stride: pair(huge)}, [2]int{})
			}, 4},
			"ConvTranspose2D dilation": {func(x *Tensor) *Tensor {
				return ConvTranspose2D(x, one(1, 1, 3, 3), nil, Window{Dilation: pair(huge)}, [2]int{})
			}, 0},
			"ConvTranspose2D padding": {func(x *Tensor) *Tensor {
				return ConvTranspose2D(x, one(1, 1, 3, 3), nil, Window{Padding: pair(huge)}, [2]int{})
			}, 0},
			"ConvTranspose2D output padding": {func(x *Tensor) *Tensor {
				return ConvTranspose2D(x, one(1, 1, 3, 3), nil, Window{Stride: pair(huge)}, pair(huge-1))
			}, 0},
			"UpsampleNearest":  {func(x *Tensor) *Tensor { return UpsampleNearest(x, huge) }, 0},
			"UpsampleBilinear": {func(x *Tensor) *Tensor { return UpsampleBilinear(x, huge) }, 0},
		} {
			got := math.NaN()
			p := Parameter(image.Clone())
			err := catch(func() {
				y := row.f(p)
				y.Sum().Backward()
				p.Grad().Data()
				got = y.Sum().Item()
			})
			var shape *ShapeError
			var memory *OutOfMemoryError
			switch {
			case row.want == 0 && !errors.As(err, &shape) && !errors.As(err, &memory):
				t.Errorf("%s of %d: %v, %v instead of an error", name, huge, got, err)
			case row.want != 0 && (err != nil || got != row.want):
				t.Errorf("%s of %d: %v, %v instead of %v", name, huge, got, err, row.want)
			}
		}
	}
}

// TestConvWithGaps compares convolutions whose stride is larger than the kernel, so that they do not read
// every element, with float64.
func TestConvWithGaps(t *testing.T) {
	for i, row := range []struct {
		w    Window
		x, k []int
	}{
		{Window{Stride: [2]int{2, 2}}, []int{3, 5, 9, 8}, []int{6, 5, 1, 1}},
		{Window{Stride: [2]int{5, 7}}, []int{2, 3, 40, 44}, []int{4, 3, 3, 3}},
		{Window{Stride: [2]int{4, 1}, Padding: [2]int{1, 1}}, []int{2, 4, 33, 12}, []int{4, 4, 3, 3}},
		{Window{Stride: [2]int{4, 5}, Dilation: [2]int{2, 5}, Padding: [2]int{2, 3}}, []int{1, 2, 31, 33}, []int{3, 2, 2, 3}},
		{Window{Stride: [2]int{2, 2}}, []int{2, 64, 14, 15}, []int{60, 64, 1, 1}},
		{Window{Stride: [2]int{3, 3}}, []int{20, 13, 12, 12}, []int{16, 13, 2, 2}},
		{Window{Stride: [2]int{40, 40}}, []int{1, 1, 16, 16}, []int{1, 1, 3, 3}},
	} {
		k := newConvolution(NewGenerator(uint64(i)), row.x, row.k, row.w)
		for _, name := range cpu.Implementations() {
			k.check(t, name, row.w)
		}
	}
}

// TestLengthsAreChecked uses lengths that no sequence has, computed before or with the op.
func TestLengthsAreChecked(t *testing.T) { checkLengthErrors(t) }

func checkLengthErrors(t *testing.T) {
	ops := map[string]struct {
		f      func(lengths *Tensor) *Tensor
		lowest int
	}{
		"Recurrence": {func(lengths *Tensor) *Tensor {
			_, h, _ := tensors.Recurrence[*Tensor]{Cell: ir.TanhCell, X: Ones(3, 1, 2), Weight: Ones(2, 2), Lengths: lengths}.Run()
			return h
		}, 1},
		"Recurrence of float64": {func(lengths *Tensor) *Tensor {
			y, _, _ := tensors.Recurrence[*Tensor]{Cell: ir.LSTMCell, X: Ones(3, 1, 8).Cast(Float64), Weight: Ones(8, 2).Cast(Float64), Lengths: lengths, Reverse: true}.Run()
			return y
		}, 1},
		"WithLengths": {func(lengths *Tensor) (y *Tensor) {
			WithLengths(lengths, 3, func() {
				known, _ := Lengths()
				y, _, _ = tensors.Recurrence[*Tensor]{Cell: ir.GRUCell, X: Ones(3, 1, 6), Weight: Ones(6, 2), Lengths: known}.Run()
			})
			return y
		}, 1},
		"MaskedAttention": {func(lengths *Tensor) *Tensor {
			x := Ones(1, 1, 3, 2)
			return MaskedAttention(x, x, x, AttentionMask{Lengths: lengths})
		}, 0},
	}
	for name, op := range ops {
		for _, late := range []bool{false, true} {
			for _, n := range []int{math.MinInt32, -5, -1, 0, 1, 2, 3, 4, 100, math.MaxInt32} {
				lengths := FromInts([]int{n}, 1)
				if late {
					lengths = lengths.Cast(Float64).MulScalar(1).Cast(Int32)
				}
				err := catch(func() { op.f(lengths).Data() })
				var index *IndexError
				if valid := n >= op.lowest && n <= 3; valid != (err == nil) || !valid && (!errors.As(err, &index) || index.Index != n || index.From != op.lowest || index.Size != 4) {
					t.Errorf("%s of length %d, computed late: %v: %v", name, n, late, err)
				}
			}
		}
	}
}

// TestPowAtZero compares gradients where the base or the exponent is 0 with those of torch 2.15.
func TestPowAtZero(t *testing.T) { comparePowAtZero(t) }

func comparePowAtZero(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, d := range []DType{Float32, Float64} {
		for _, row := range []struct{ a, b, da, db float64 }{
			{0, 0, 0, 0},
			{0, 2, 0, 0},
			{0, 1, 1, 0},
			{0, 0.5, inf, 0},
			{0, -1, -inf, -inf},
			{2, 3, 12, 8 * math.Ln2},
			{2, 0, 0, math.Ln2},
			{-2, 0, 0, nan},
			{-2, 2, -4, nan},
			{-2, 1, 1, nan},
			{1, 0, 0, 0},
			{inf, 0, 0, inf},
			{nan, 0, 0, nan},
		} {
			a, b := Parameter(FromFloat64s([]float64{row.a}, 1).Cast(d).Clone()), Parameter(FromFloat64s([]float64{row.b}, 1).Cast(d).Clone())
			s := Parameter(FromFloat64s([]float64{row.a}, 1).Cast(d).Clone())
			a.Pow(b).Sum().Backward()
			s.PowScalar(row.b).Sum().Backward()
			for what, pair := range map[string][2]float64{"base": {a.Grad().Float64s()[0], row.da}, "exponent": {b.Grad().Float64s()[0], row.db}, "PowScalar": {s.Grad().Float64s()[0], row.da}} {
				if got, want := pair[0], pair[1]; !(got == want || got != got && want != want || math.Abs(got-want) <= 1e-6*math.Abs(want)) {
					t.Errorf("%v: the gradient of %v^%v for the %s is %v, want %v", d, row.a, row.b, what, got, want)
				}
			}
		}
	}
	// Broadcasting sums over the elements, of which those at 0 count as 0.
	p := Parameter(Zeros(1))
	New([]float32{0, 2, 0}, 3).Pow(p).Sum().Backward()
	if got := p.Grad().Item(); math.Abs(got-math.Ln2) > 1e-6 {
		t.Errorf("the gradient of a broadcast exponent is %v", got)
	}
	// The scalar may change from step to step, also to 0 and back.
	for _, s := range []float64{2, 0, 3, 0, 2} {
		x := Parameter(New([]float32{0, 3}, 2))
		x.PowScalar(s).Sum().Backward()
		if got, want := x.Grad().Data(), float32(s*math.Pow(3, s-1)); got[0] != 0 || math.Abs(float64(got[1]-want)) > 1e-4 {
			t.Errorf("the gradient of x^%v is %v", s, got)
		}
	}
}
