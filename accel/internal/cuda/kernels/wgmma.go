package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/tensor"
)

type wgmmaParams struct {
	Y       Pointer
	_       [56]byte // maps start at multiples of 64
	A, B    [128]byte
	Product wgmmaProduct
	Result  result
}

// wgmmaProduct is the sizes, and whether each factor has a batch, or one for all.
type wgmmaProduct struct{ M, N, K, ABatch, BBatch uint32 }

// Where the maps are in the parameters.
const mapA, mapB = 64, 192

var wgmmaTypes = []string{"bf16_sm90", "f16_sm90"}

var wgmmaEntries = func() []Entry {
	var out []Entry
	for _, lies := range []string{"tn", "tt", "nn", "nt"} {
		out = append(out, wgmma(lies).entry())
	}
	return out
}()

func wgmma(lies string) kernel[wgmmaParams] {
	return kernel[wgmmaParams]{"wgmma", "wgmma_" + lies, wgmmaTypes, 384}
}

// The tile of a block, and the shared memory of its four panels.
const (
	wgmmaM, wgmmaN = 128, 256
	wgmmaShared    = 4 * (wgmmaM + wgmmaN) * 128
)

// HopperMatMul is TensorMatMul of bfloat16 or float16 for compute capability 9.0
// alone. See Fits.
type HopperMatMul struct{ TensorMatMul }

// Fits tells whether there are kernels for the types, layouts and addresses:
// neighbours along one dimension of each factor, all else at multiples of 16
// bytes, and a batch of one dimension at most.
func (o HopperMatMul) Fits(a, b Pointer) bool {
	p, err := o.plan()
	if err != nil || !o.DType.Is16Bit() || p.Batch.Rank > 1 || p.count > 65535 || min(p.M, p.N, p.K) == 0 {
		return false
	}
	p.A, p.B = a, b
	return p.aligned(p.lies(), o.DType.Size())
}

// Pays tells whether there are enough of the large tiles to be worth it: for half of
// the multiprocessors of an H100.
func (o HopperMatMul) Pays() bool {
	p, err := o.plan()
	return err == nil && p.wgmmaBlocks()*p.count*p.parts >= 64
}

func (o HopperMatMul) plan() (matrices, error) {
	p, err := o.matrices()
	if err != nil {
		return p, err
	}
	p.parts = kParts(p.wgmmaBlocks()*p.count, int(p.K))
	return p, nil
}

func (p matrices) wgmmaBlocks() int { return ceil(int(p.M), wgmmaM) * ceil(int(p.N), wgmmaN) }

// Workspace is room for the parts of a product that is cut along its depth.
func (o HopperMatMul) Workspace() int {
	p, err := o.plan()
	if err != nil {
		return 0
	}
	return p.bytes(tensor.Float32)
}

// Launches computes y, as TensorMatMul does. The error is of factors that do not
// fit.
func (o HopperMatMul) Launches(y, a, b, bias, work Pointer) ([]Launch, error) {
	p, err := o.plan()
	if err != nil || p.M == 0 || p.N == 0 || p.count == 0 {
		return nil, err
	}
	if !o.Fits(a, b) {
		return nil, fmt.Errorf("a product of %d×%d and %d×%d lies in memory as wgmma cannot read it", p.M, p.K, p.K, p.N)
	}
	if !o.Bias {
		bias = 0
	}
	lies, size := p.lies(), int64(p.M)*int64(p.N)
	params := wgmmaParams{Y: y, Product: wgmmaProduct{p.M, p.N, p.K, flag(p.Batch.A[0] != 0), flag(p.Batch.B[0] != 0)},
		Result: result{Bias: bias, Row: int64(p.N), Batch: size, Inner: newDivisor(int(p.N)), ReLU: flag(o.ReLU), Half: flag(o.Half), Parts: uint32(p.parts)}}
	if p.parts > 1 {
		params.Y, params.Result.Part = work, size*int64(p.count)
	}
	v := tensorType(o.DType)
	first := wgmma(lies).grid(v+"_sm90", driver.Dim{X: uint32(p.wgmmaBlocks()), Y: uint32(p.parts), Z: uint32(p.count)}, wgmmaShared, params)
	first.Maps = []Map{
		{mapA, o.tensorMap(side{a, p.ARow, p.AK, p.Batch.A}, p.M, p.K, p.Count, lies[0] == 't', wgmmaM)},
		{mapB, o.tensorMap(side{b, p.BColumn, p.BK, p.Batch.B}, p.N, p.K, p.Count, lies[1] == 't', wgmmaN)},
	}
	out := []Launch{first}
	if p.parts > 1 {
		n := int(size) * p.count
		out = append(out, matmulParts.launch(v, linear(n), matmulPartsParams{y, work, uint64(n), bias, uint32(p.parts), p.M, p.N, 0, flag(o.ReLU), flag(o.Half)}))
	}
	return out, nil
}

// tensorMap describes a factor: panels of 64 of k and the tile's rows, or boxes of
// 64 by 64.
func (o HopperMatMul) tensorMap(s side, rows, k, count uint32, along bool, tile uint32) driver.TensorMap {
	size := int64(o.DType.Size())
	m := driver.TensorMap{Type: driver.TensorBFloat16, Address: s.at, Swizzle: driver.Swizzle128}
	if o.DType == tensor.Float16 {
		m.Type = driver.TensorFloat16
	}
	far := s.k
	m.Shape, m.Box = []uint64{uint64(rows), uint64(k)}, []uint32{64, 64, 1}
	if along {
		far = s.row
		m.Shape, m.Box = []uint64{uint64(k), uint64(rows)}, []uint32{64, tile, 1}
	}
	batch := s.batch[0] * size
	if batch == 0 { // one for all
		count, batch = 1, max(16, far*size)
	}
	m.Shape = append(m.Shape, uint64(count))
	m.Strides = []uint64{uint64(max(16, far*size)), uint64(batch)}
	return m
}
