package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// images describes the tensors of a convolution; see conv.h.
type images struct {
	N, C, H, W, O, OH, OW, KH, KW uint32
	Groups                        uint32
	Stride, Padding, Dilation     [2]int32
	Plane, Line, Kernel, Width    divisor
	Strides                       [2]divisor
}

// Conv2D computes y [N, O, OH, OW] from x [N, C, H, W] and w [O, C/Groups, KH, KW], as
// ir.Conv2D does, or a gradient of it. Pairs are height and width. With TF32, tensor cores multiply the float32 factors
// rounded to TF32.
type Conv2D struct {
	DType                         tensortype.DType
	TF32                          bool
	N, C, H, W, O, OH, OW, KH, KW int
	Groups                        int
	Stride, Padding, Dilation     [2]int
}

func (o Conv2D) images(plane, line int) images {
	g := images{N: uint32(o.N), C: uint32(o.C / o.Groups), H: uint32(o.H), W: uint32(o.W), O: uint32(o.O / o.Groups), OH: uint32(o.OH), OW: uint32(o.OW),
		KH: uint32(o.KH), KW: uint32(o.KW), Groups: uint32(o.Groups),
		Plane: newDivisor(plane), Line: newDivisor(line), Kernel: newDivisor(o.KH * o.KW), Width: newDivisor(o.KW)}
	for i := range 2 {
		g.Stride[i], g.Padding[i], g.Dilation[i] = int32(o.Stride[i]), int32(o.Padding[i]), int32(o.Dilation[i])
		g.Strides[i] = newDivisor(o.Stride[i])
	}
	return g
}

// ConvKind says which of the three tensors of a convolution is computed from the other two, the factors.
type ConvKind int

// The kinds.
const (
	ConvForward ConvKind = iota // y from x and w
	ConvInput                   // dx from dy and w
	ConvWeight                  // dw from x and dy
)

var convKinds = [...]string{"forward", "input", "weight"}

// String returns the kind as it is in the names of kernels.
func (k ConvKind) String() string { return convKinds[k] }

// product is a matrix multiplication for each group of a convolution.
type product struct{ m, n, depth, groups int }

func (p product) size() int { return p.m * p.n * p.groups }

func (p product) blocks(tile int) int { return ceil(p.m, tile) * ceil(p.n, tile) }

// parts returns the number of parts that the depth is split into, for tiles of the given size.
func (p product) parts(tile int) int { return splitK(p.blocks(tile)*p.groups, atOnce, p.depth) }

func (p product) partBytes(tile, size int) int {
	return partBytes(p.parts(tile), p.blocks(tile)*p.groups, tile*tile, size)
}

// grid has one block per tile along x, the parts along y, the groups along z.
func (p product) grid(tile int) driver.Dim {
	return driver.Dim{X: uint32(p.blocks(tile)), Y: uint32(p.parts(tile)), Z: uint32(p.groups)}
}

// checkSize returns an error for sizes beyond the kernels' 32-bit counters.
func (p product) checkSize() error {
	if max(p.m, p.n, p.depth) > maxSide || p.groups > 65535 {
		return fmt.Errorf("a convolution as matrices of %d×%d by depth %d in %d groups is too large for the kernels' 32-bit counters", p.m, p.n, p.depth, p.groups)
	}
	return nil
}

// convolution is a Conv2D as a matrix multiplication (implicit GEMM).
type convolution struct {
	product
	images images
	result result
}
