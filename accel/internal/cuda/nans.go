package cuda

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// nanKind is what products have in common whose ReLU may be another.
type nanKind struct {
	factors, result ir.DType
	tf32, bias      bool
}

// nanSide is the side of the product that is tried.
const nanSide = 64

// keepsNaN tells whether the ReLU of a product gives NaN for NaN, as ours does: with
// a maximum as the hardware computes it, 0 would hide that a training diverged. The
// library does not say, so one product is tried.
func (b *blas) keepsNaN(d *Device, p cublaslt.Product) bool {
	kind := nanKind{p.A.Type, p.D.Type, p.TF32, p.Bias}
	if keeps, known := b.nans[kind]; known {
		return keeps
	}
	keeps, err := b.tryNaN(d, kind)
	if err != nil {
		unused(d, b.name, err)
	}
	b.nans[kind] = keeps
	return keeps
}

// notANumber is a quiet NaN of a type, twice for types of 16 bits.
func notANumber(t ir.DType) uint32 {
	switch t {
	case ir.Float16:
		return 0x7e007e00
	case ir.BFloat16:
		return 0x7fc07fc0
	}
	return 0x7fc00000
}

// tryNaN multiplies NaN by zero.
func (b *blas) tryNaN(d *Device, kind nanKind) (keeps bool, err error) {
	factor := cublaslt.Matrix{Type: kind.factors, Rows: nanSide, Cols: nanSide, Lead: nanSide, Align: addressAlign}
	result := factor
	result.Type = kind.result
	plans := b.ways(d, cublaslt.Product{A: factor, B: factor, D: result, Batch: 1, TF32: kind.tf32, Bias: kind.bias, ReLU: true,
		Workspace: cublaslt.WorkspaceBytes(d.ctx.Info().Capability())}, "ReLU of NaN")
	if len(plans) == 0 {
		return false, nil
	}
	const words = nanSide * nanSide // of 4 bytes, enough for a matrix of each type
	at, err := d.ctx.Alloc(4*4*words+plans[0].Workspace(), d.stream)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.ctx.Free(at, d.stream)) }()
	place := func(i int) driver.Pointer { return at + driver.Pointer(4*words*i) }
	for i, value := range []uint32{0, notANumber(kind.factors), 0, 0} {
		if err := d.ctx.Fill(place(i), value, 4, words, d.stream); err != nil {
			return false, err
		}
	}
	var bias driver.Pointer
	if kind.bias {
		bias = place(3)
	}
	if err := d.current(func() error {
		return plans[0].Run(d.stream, cublaslt.Places{D: place(0), A: place(1), B: place(2), Bias: bias, Work: place(4)})
	}); err != nil {
		return false, err
	}
	if err := d.ctx.CopyToHost(d.host[:4*words], place(0), d.stream); err != nil {
		return false, err
	}
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return false, err
	}
	return allNaN(d.host[:nanSide*nanSide*kind.result.Size()], kind.result), nil
}

// allNaN tells whether all numbers of a type are NaN.
func allNaN(b []byte, t ir.DType) bool {
	for ; len(b) > 0; b = b[t.Size():] {
		switch t {
		case ir.Float32:
			if x := math.Float32frombits(binary.LittleEndian.Uint32(b)); x == x {
				return false
			}
		case ir.Float16:
			if binary.LittleEndian.Uint16(b)&0x7fff <= 0x7c00 {
				return false
			}
		case ir.BFloat16:
			if binary.LittleEndian.Uint16(b)&0x7fff <= 0x7f80 {
				return false
			}
		}
	}
	return true
}
