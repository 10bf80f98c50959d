package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/tensor"
)

type matmulPartsParams struct {
	Y, Parts                                   Pointer
	N                                          uint64
	Bias                                       Pointer
	Count, Rows, Columns, BiasRows, ReLU, Half uint32
}

// tensorTypes are the variants of kernels for tensor cores.
var tensorTypes = []string{"bf16", "f16", "tf32"}

// tensorType is the variant for a type of factors: float32 is rounded to TF32.
func tensorType(d tensor.DType) string {
	switch d {
	case tensor.BFloat16:
		return "bf16"
	case tensor.Float16:
		return "f16"
	}
	return "tf32"
}

var (
	matmulParts   = kernel[matmulPartsParams]{"matmul", "matmul_parts", tensorTypes, 256}
	matmulEntries = func() []Entry {
		out := []Entry{matmulParts.entry(), matmul(64, "any").entry()}
		for _, lies := range []string{"tn", "tt", "nn", "nt"} {
			out = append(out, matmul(128, lies).entry(), matmul(64, lies).entry())
		}
		return out
	}()
)

func matmul(tile int, lies string) kernel[gemmParams] {
	return kernel[gemmParams]{"matmul", fmt.Sprintf("matmul%d_%s", tile, lies), tensorTypes, 2 * tile}
}

// panelShared is the shared memory of the ring of panels for a tile.
func panelShared(tile int) int { return 4 * 2 * tile * 64 }

// TensorMatMul is MatMul on tensor cores: of bfloat16 or float16 factors, or of
// float32 rounded to TF32 (a mantissa of 10 bits), added up in float32. y and the
// bias are float32, or with Half of the factors' 16-bit type.
type TensorMatMul struct {
	MatMul
	Half bool
}

func (o TensorMatMul) plan() (matrices, error) {
	p, err := o.matrices()
	if err != nil {
		return p, err
	}
	p.tile = 64
	if p.blocks(128)*p.count >= 132 {
		p.tile = 128
	}
	p.parts = kParts(p.blocks(p.tile)*p.count, int(p.K))
	return p, nil
}

// Workspace is room for the parts of a product that is cut along its depth.
func (o TensorMatMul) Workspace() int {
	p, err := o.plan()
	if err != nil {
		return 0
	}
	return p.bytes(tensor.Float32)
}

// Launches computes y; bias is not read without Bias. The error is of sizes or
// layouts that the kernels cannot do.
func (o TensorMatMul) Launches(y, a, b, bias, work Pointer) ([]Launch, error) {
	p, err := o.plan()
	if err != nil || p.M == 0 || p.N == 0 || p.count == 0 {
		return nil, err
	}
	if !o.Bias {
		bias = 0
	}
	v, lies := tensorType(o.DType), p.lies()
	p.A, p.B = a, b
	if !p.aligned(lies, o.DType.Size()) {
		p.tile, lies = 64, "any"
	}
	size := int64(p.M) * int64(p.N)
	params := gemmParams{Y: y, Factors: p.factors, Result: result{Bias: bias, Row: int64(p.N), Batch: size, Inner: newDivisor(int(p.N)),
		ReLU: flag(o.ReLU), Half: flag(o.Half), Parts: uint32(p.parts)}}
	if p.parts > 1 {
		params.Y, params.Result.Part = work, size*int64(p.count)
	}
	out := []Launch{matmul(p.tile, lies).grid(v, p.grid(), panelShared(p.tile), params)}
	if p.parts > 1 {
		n := int(size) * p.count
		out = append(out, matmulParts.launch(v, linear(n), matmulPartsParams{y, work, uint64(n), bias, uint32(p.parts), p.M, p.N, 0, flag(o.ReLU), flag(o.Half)}))
	}
	return out, nil
}

// aligned tells whether the rows or lines of both factors lie as lies says and
// start at multiples of 16 bytes.
func (p matrices) aligned(lies string, size int) bool {
	a, b := side{p.A, p.ARow, p.AK, p.Batch.A}, side{p.B, p.BColumn, p.BK, p.Batch.B}
	return a.aligned(lies[0] == 't', size) && b.aligned(lies[1] == 't', size)
}

// side is where a factor lies: stride along its rows and along k.
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

// grid is one tile a block along x, parts along y, products along z.
func (p matrices) grid() driver.Dim {
	return driver.Dim{X: uint32(p.blocks(p.tile)), Y: uint32(p.parts), Z: uint32(min(p.count, 65535))}
}
