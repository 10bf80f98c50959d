package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// tensorTypes are the variants of kernels for tensor cores.
var tensorTypes = []string{"bf16", "f16", "tf32"}

// tensorType returns the variant for an operand type. float32 is rounded to TF32.
func tensorType(d tensortype.DType) string {
	switch d {
	case tensortype.BFloat16:
		return "bf16"
	case tensortype.Float16:
		return "f16"
	}
	return "tf32"
}

func init() {
	add(matmul(64, "any").entry())
	for _, order := range []string{"tn", "tt", "nn", "nt"} {
		add(matmul(128, order).entry(), matmul(64, order).entry())
	}
}

func matmul(tile int, order string) kernel[gemmParams] {
	return kernel[gemmParams]{"matmul", fmt.Sprintf("matmul%d_%s", tile, order), tensorTypes, 2 * tile}
}

// panelShared returns the size of the ring of panels in shared memory, for a tile size.
func panelShared(tile int) int { return 4 * 2 * tile * 64 }

// TensorMatMul is MatMul on tensor cores: of bfloat16 or float16 operands, or of float32
// rounded to TF32 (a mantissa of 10 bits), with float32 accumulation. y and the bias are
// float32, or with Output16 of the operands' 16-bit type.
type TensorMatMul struct {
	MatMul
	Output16 bool
}

// Workspace returns the size of the workspace, which holds the partial results of a split-K
// matrix multiplication.
func (o TensorMatMul) Workspace() int {
	p, err := o.plan()
	if err != nil {
		return 0
	}
	size := func(p problem) int { return o.workspace(p, p.bytes(tensortype.Float32), 4) }
	return max(size(p), size(o.unaligned(p)))
}

func (o TensorMatMul) plan() (problem, error) {
	p, err := o.MatMul.plan()
	p.sums = p.tile == 64 && o.DType.Is16Bit()
	return p, err
}

// unaligned returns the plan for operands that are not aligned, for which there is a small tile only.
func (o TensorMatMul) unaligned(p problem) problem {
	p.tile, p.sums = 64, o.DType.Is16Bit()
	p.parts = splitK(p.blocks(p.tile)*p.count, atOnce, int(p.K))
	return p
}

// Launches computes y, see MatMul. It returns an error for sizes and layouts
// that the kernels do not support.
func (o TensorMatMul) Launches(at Addresses) ([]Launch, error) {
	p, err := o.plan()
	if err != nil || p.M == 0 || p.N == 0 || p.count == 0 {
		return nil, err
	}
	v, order := tensorType(o.DType), p.order()
	p.A, p.B = at.In[0], at.In[1]
	if !p.aligned(order, o.DType.Size()) {
		p, order = o.unaligned(p), "any"
	}
	params := gemmParams{Y: at.Out[0], Operands: p.operands, Result: o.result(p, at, p.bytes(tensortype.Float32))}
	params.Result.Output16 = flag(o.Output16)
	return append([]Launch{matmul(p.tile, order).grid(v, p.grid(), panelShared(p.tile), params)}, o.separate(p, at)...), nil
}

// aligned reports whether both operands have the memory order and start all rows (or
// columns) at multiples of 16 bytes.
func (p problem) aligned(order string, size int) bool {
	a, b := side{p.A, p.ARow, p.AK, p.Batch.A}, side{p.B, p.BColumn, p.BK, p.Batch.B}
	return a.aligned(order[0] == 't', size) && b.aligned(order[1] == 't', size)
}

// side is an operand's address and its strides along its rows (M or N) and along K.
type side struct {
	at     Pointer
	row, k int64
	batch  [4]int64
}

func (s side) aligned(along bool, size int) bool {
	near, far := s.row, s.k
	if along {
		near, far = s.k, s.row
	}
	whole := near == 1 && far*int64(size)%16 == 0 && s.at%16 == 0
	for _, b := range s.batch {
		whole = whole && b*int64(size)%16 == 0
	}
	return whole
}
