package kernels

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type operands struct {
	A, B                  Pointer
	M, N, K, Count        uint32
	ARow, AK, BK, BColumn int64
	Batch                 batch
}

type gemmParams struct {
	Y        Pointer
	Operands operands
	Result   result
}

func init() {
	for _, order := range []string{"tn", "tt", "nn", "nt"} {
		large, small := gemm(128, order), gemm(64, order)
		large.variants = []string{"f32"}
		add(large.entry(), small.entry())
	}
}

func gemm(tile int, order string) kernel[gemmParams] {
	return kernel[gemmParams]{"gemm", fmt.Sprintf("gemm%d_%s", tile, order), reals, 256}
}

// MatMul computes y [batch…, M, N] = a·b plus a bias [N] in the operands' type. A and B are
// their layouts, [batch…, M, K] and [batch…, K, N], with the leading dimensions of y; the
// caller adds the offsets.
type MatMul struct {
	DType      tensortype.DType
	A, B       ir.Layout
	Bias, ReLU bool
	// End is what is applied to y: the gradient of an activation, with a tensor of y's type and shape, or an activation, before
	// which y is stored, too, if Keeps; nil for neither.
	End   ir.Op
	Keeps bool
	// Sums is the number of the factor, from 1, that is also summed along K; 0 for none. As it lies in memory, it is
	// row-major with K first. There is no batch then. The sums are of float32 or float64, or with Sums16 of the factors'
	// 16-bit type.
	Sums   int
	Sums16 bool
}

// result describes the result of a product to a kernel whose split leaves some bytes in the workspace.
func (o MatMul) result(p problem, a Addresses, bytes int) result {
	r := result{Row: int64(p.N), Batch: int64(p.M) * int64(p.N), Inner: newDivisor(int(p.N)), ReLU: flag(o.ReLU), Work: a.Work, Parts: uint32(p.parts), End: endOf(o.End)}
	switch {
	case SlopeOf(o.End) > 0:
		r.Beside = a.Optional(2)
	case o.Bias:
		r.Bias = a.Optional(2)
	}
	if o.Keeps {
		r.Beside = a.Out[1]
	}
	if o.Sums > 0 && p.sums {
		r.Sums, r.OfParts, r.Summed = a.Out[len(a.Out)-1], a.Work+Pointer(bytes), uint32(o.Sums)
		r.Sums16 = flag(o.Sums16)
	}
	return r
}

// separate returns the launches that sum a factor, if the kernel of the product does not.
func (o MatMul) separate(p problem, a Addresses) []Launch {
	if o.Sums == 0 || p.sums {
		return nil
	}
	return o.summed(p).Launches(a.Out[len(a.Out)-1], a.In[o.Sums-1], a.Work)
}

// summed returns the sum of a factor as an op of its own.
func (o MatMul) summed(p problem) Sum {
	s := Sum{DType: computes(o.DType), Outer: 1, N: int(p.K), Inner: int(p.M), X: o.DType}
	if s.Y = s.DType; o.Sums16 {
		s.Y = o.DType
	}
	if o.Sums == 2 {
		s.Inner = int(p.N)
	}
	return s
}

// workspace returns the size of the workspace, given what a split needs.
func (o MatMul) workspace(p problem, bytes, size int) int {
	switch {
	case o.Sums == 0:
		return bytes
	case p.sums && p.parts == 1:
		return 0
	case p.sums:
		return bytes + p.parts*o.summed(p).Inner*size
	}
	return max(bytes, o.summed(p).Workspace())
}

// problem is a MatMul in the terms of the kernels: one GEMM, or a batch of them, and how to
// tile it.
type problem struct {
	operands
	count, tile, parts int
	sums               bool // whether the kernel can sum a factor
}

func (o MatMul) problem() (problem, error) {
	var p problem
	a, b := o.A, o.B
	r := len(a.Shape) - 2
	// A batch with a single right-hand side is one matrix multiplication.
	if r > 0 && !slices.ContainsFunc(b.Stride[:r], func(s int) bool { return s != 0 }) {
		if rows := (ir.Layout{Shape: a.Shape[:r+1], Stride: a.Stride[:r+1]}).Squeeze(); len(rows.Shape) == 1 {
			a = ir.Layout{Shape: []int{rows.Shape[0], a.Shape[r+1]}, Stride: []int{rows.Stride[0], a.Stride[r+1]}}
			b = ir.Layout{Shape: b.Shape[r:], Stride: b.Stride[r:]}
			r = 0
		}
	}
	lead, count, err := newBatch(ir.Layout{Shape: a.Shape[:r], Stride: a.Stride[:r]}, ir.Layout{Shape: b.Shape[:r], Stride: b.Stride[:r]})
	if err != nil {
		return p, err
	}
	m, n, k := a.Shape[r], b.Shape[r+1], a.Shape[r+1]
	if max(m, n, k, count) > maxSide {
		return p, fmt.Errorf("a matrix multiplication of %d×%d by %d×%d in a batch of %d is too large: the kernels count to %d", m, k, k, n, count, maxSide)
	}
	p.operands = operands{M: uint32(m), N: uint32(n), K: uint32(k), Count: uint32(count), Batch: lead,
		ARow: int64(a.Stride[r]), AK: int64(a.Stride[r+1]), BK: int64(b.Stride[r]), BColumn: int64(b.Stride[r+1])}
	p.count = count
	return p, nil
}

// order returns the name of the kernel's variant for the memory order of the operands: a
// letter for a and one for b, 't' if the operand is contiguous along K, else 'n'.
func (p problem) order() string {
	name := []byte("nn")
	if p.AK == 1 && p.ARow != 1 || p.M == 1 {
		name[0] = 't'
	}
	if p.BK == 1 && p.BColumn != 1 || p.N == 1 {
		name[1] = 't'
	}
	return string(name)
}

func (p problem) blocks(tile int) int { return ceil(int(p.M), tile) * ceil(int(p.N), tile) }

// grid has one block per tile along x, the parts along y, the batch along z.
func (p problem) grid() driver.Dim {
	return driver.Dim{X: uint32(p.blocks(p.tile)), Y: uint32(p.parts), Z: uint32(min(p.count, 65535))}
}

func (o MatMul) plan() (problem, error) {
	p, err := o.problem()
	if err != nil {
		return p, err
	}
	p.tile = 64
	if o.DType != tensortype.Float64 && p.blocks(128)*p.count >= 132 {
		p.tile = 128
	}
	p.sums = p.tile == 64 || p.order() == "nn"
	p.parts = splitK(p.blocks(p.tile)*p.count, atOnce, int(p.K))
	return p, nil
}

func (p problem) bytes(d tensortype.DType) int {
	return partBytes(p.parts, p.blocks(p.tile)*p.count, p.tile*p.tile, d.Size())
}

// Workspace returns the size of the workspace, which holds the partial results of a split-K
// matrix multiplication.
func (o MatMul) Workspace() int {
	p, err := o.plan()
	if err != nil {
		return 0
	}
	return o.workspace(p, p.bytes(o.DType), o.DType.Size())
}

// Launches computes y from a, b and the bias or, with a gradient at its end, its tensor; and behind y what it keeps and the sums.
// It returns an error for sizes and layouts that the kernels do not support.
func (o MatMul) Launches(at Addresses) ([]Launch, error) {
	p, err := o.plan()
	if err != nil || p.M == 0 || p.N == 0 || p.count == 0 {
		return nil, err
	}
	params := gemmParams{Y: at.Out[0], Operands: p.operands, Result: o.result(p, at, p.bytes(o.DType))}
	params.Operands.A, params.Operands.B = at.In[0], at.In[1]
	return append([]Launch{gemm(p.tile, p.order()).grid(real(o.DType), p.grid(), 0, params)}, o.separate(p, at)...), nil
}
