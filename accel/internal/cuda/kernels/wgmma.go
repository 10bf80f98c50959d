package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type wgmmaParams struct {
	Y       Pointer
	_       [56]byte // tensor maps start at multiples of 64 bytes
	A, B    [128]byte
	Problem wgmmaProblem
	Result  result
}

// wgmmaProblem is the sizes, and whether each operand has a batch of its own.
type wgmmaProblem struct{ M, N, K, ABatch, BBatch uint32 }

// Offsets of the tensor maps in the parameters.
const mapA, mapB = 64, 192

var wgmmaTypes = []string{"bf16_sm90", "f16_sm90"}

func init() {
	for _, order := range []string{"tn", "tt", "nn", "nt"} {
		add(wgmma(order).entry())
	}
}

func wgmma(order string) kernel[wgmmaParams] {
	return kernel[wgmmaParams]{"wgmma", "wgmma_" + order, wgmmaTypes, 384}
}

// The tile of a block, and the size of its four panels in shared memory.
const (
	wgmmaM, wgmmaN = 128, 256
	wgmmaShared    = 4 * (wgmmaM + wgmmaN) * 128
)

// HopperMatMul is TensorMatMul of bfloat16 or float16 for compute capability 9.0 only. See
// Fits.
type HopperMatMul struct{ TensorMatMul }

// Fits reports whether there are kernels for the types, layouts and addresses: each operand
// must be contiguous along one dimension, the other strides and the addresses must be
// multiples of 16 bytes, and the batch must have at most one dimension.
func (o HopperMatMul) Fits(a, b Pointer) bool {
	p, err := o.plan()
	if err != nil || !o.DType.Is16Bit() || p.Batch.Rank > 1 || p.count > 65535 || min(p.M, p.N, p.K) == 0 {
		return false
	}
	p.A, p.B = a, b
	return p.aligned(p.order(), o.DType.Size())
}

// WorthIt reports whether the result has enough of the large tiles to pay off: at least for
// half of the SMs of an H100.
func (o HopperMatMul) WorthIt() bool {
	p, err := o.plan()
	return err == nil && p.wgmmaBlocks()*p.count*p.parts >= 64
}

func (o HopperMatMul) plan() (problem, error) {
	p, err := o.problem()
	if err != nil {
		return p, err
	}
	p.sums = true
	p.parts = splitK(p.wgmmaBlocks()*p.count, largeAtOnce, int(p.K))
	return p, nil
}

func (p problem) wgmmaBlocks() int { return ceil(int(p.M), wgmmaM) * ceil(int(p.N), wgmmaN) }

// Workspace returns the size of the workspace, which holds the partial results of a split-K
// matrix multiplication.
func (o HopperMatMul) Workspace() int {
	p, err := o.plan()
	if err != nil {
		return 0
	}
	return o.workspace(p, p.wgmmaBytes(), 4)
}

func (p problem) wgmmaBytes() int {
	return partBytes(p.parts, p.wgmmaBlocks()*p.count, wgmmaM*wgmmaN, 4)
}

// Launches computes y, as TensorMatMul does. It returns an error for operands that do not
// fit.
func (o HopperMatMul) Launches(at Addresses) ([]Launch, error) {
	p, err := o.plan()
	if err != nil || p.M == 0 || p.N == 0 || p.count == 0 {
		return nil, err
	}
	if !o.Fits(at.In[0], at.In[1]) {
		return nil, fmt.Errorf("wgmma cannot read the memory layout of the operands of a matrix multiplication of %d×%d by %d×%d", p.M, p.K, p.K, p.N)
	}
	order, a, b := p.order(), at.In[0], at.In[1]
	params := wgmmaParams{Y: at.Out[0], Problem: wgmmaProblem{p.M, p.N, p.K, flag(p.Batch.A[0] != 0), flag(p.Batch.B[0] != 0)}, Result: o.result(p, at, p.wgmmaBytes())}
	params.Result.Output16 = flag(o.Output16)
	v := tensorType(o.DType)
	first := wgmma(order).grid(v+"_sm90", driver.Dim{X: uint32(p.wgmmaBlocks()), Y: uint32(p.parts), Z: uint32(p.count)}, wgmmaShared, params)
	first.Maps = []Map{
		{mapA, o.tensorMap(side{a, p.ARow, p.AK, p.Batch.A}, p.M, p.K, p.Count, order[0] == 't', wgmmaM)},
		{mapB, o.tensorMap(side{b, p.BColumn, p.BK, p.Batch.B}, p.N, p.K, p.Count, order[1] == 't', wgmmaN)},
	}
	return []Launch{first}, nil
}

// tensorMap describes an operand: panels of 64 elements along K by the tile's rows, or
// boxes of 64 by 64.
func (o HopperMatMul) tensorMap(s side, rows, k, count uint32, along bool, tile uint32) driver.TensorMap {
	size := int64(o.DType.Size())
	m := driver.TensorMap{Type: driver.TensorBFloat16, Address: s.at, Swizzle: driver.Swizzle128}
	if o.DType == tensortype.Float16 {
		m.Type = driver.TensorFloat16
	}
	far := s.k
	m.Shape, m.Box = []uint64{uint64(rows), uint64(k)}, []uint32{64, 64, 1}
	if along {
		far = s.row
		m.Shape, m.Box = []uint64{uint64(k), uint64(rows)}, []uint32{64, tile, 1}
	}
	batch := s.batch[0] * size
	if batch == 0 { // the same matrix for the whole batch
		count, batch = 1, max(16, far*size)
	}
	m.Shape = append(m.Shape, uint64(count))
	m.Strides = []uint64{uint64(max(16, far*size)), uint64(batch)}
	return m
}
