package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

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

type convParams struct {
	Y, A, B Pointer
	Images  images
	Result  result
}

func init() {
	for kind := ConvForward; kind <= ConvWeight; kind++ {
		add(conv(kind).entry(), convTensor(kind, 128).entry(), convTensor(kind, 64).entry())
	}
}

func conv(kind ConvKind) kernel[convParams] {
	return kernel[convParams]{"conv", "conv_" + kind.String(), reals, 256}
}

func convTensor(kind ConvKind, tile int) kernel[convParams] {
	return kernel[convParams]{"convtensor", fmt.Sprintf("convtensor_%v%d", kind, tile), []string{"tf32"}, 2 * tile}
}

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

func (o Conv2D) product(kind ConvKind) (c convolution) {
	plane, pixels, patch := o.OH*o.OW, o.H*o.W, o.C/o.Groups*o.KH*o.KW
	switch kind {
	case ConvForward:
		c.product = product{o.O / o.Groups, o.N * plane, patch, o.Groups}
		c.result = result{Row: int64(plane), Outer: int64(o.O * plane), Batch: int64(c.m * plane), Inner: newDivisor(plane), BiasRows: 1}
	case ConvInput:
		c.product = product{o.C / o.Groups, o.N * pixels, o.O / o.Groups * o.KH * o.KW, o.Groups}
		c.images = o.images(pixels, o.W)
		c.result = result{Row: int64(pixels), Outer: int64(o.C * pixels), Batch: int64(c.m * pixels), Inner: newDivisor(pixels)}
		return c
	case ConvWeight:
		c.product = product{o.O / o.Groups, patch, o.N * plane, o.Groups}
		c.result = result{Row: int64(patch), Batch: int64(c.m * patch), Inner: newDivisor(patch)}
	}
	c.images = o.images(plane, o.OW)
	return c
}

// tile returns the side of a block's tile: on tensor cores the larger one if its tiles still fill the GPU.
func (o Conv2D) tile(p product) int {
	if o.TF32 && p.m > 64 && p.blocks(128)*p.groups >= 132 {
		return 128
	}
	return 64
}

// Workspace returns the size of the workspace of Launches.
func (o Conv2D) Workspace(kind ConvKind) int {
	if o.direct() {
		return 0
	}
	p := o.product(kind).product
	return p.partBytes(o.tile(p), o.DType.Size())
}

// Launches computes y, or the gradient that the kind names, from its factors a and b. bias [O] is 0 for none. It returns an
// error for sizes beyond the kernels' counters.
func (o Conv2D) Launches(kind ConvKind, y, a, b, bias, work Pointer, relu bool) ([]Launch, error) {
	c := o.product(kind)
	if err := c.checkSize(); err != nil || c.size() == 0 {
		return nil, err
	}
	if o.direct() {
		return []Launch{o.directLaunch(kind, c, y, a, b, bias, relu)}, nil
	}
	tile := o.tile(c.product)
	k, variant, shared := conv(kind), real(o.DType), 0
	if o.TF32 {
		k, variant, shared = convTensor(kind, tile), "tf32", panelShared(tile)
	}
	r, grid := c.result, c.grid(tile)
	r.Bias, r.ReLU, r.Parts, r.Work = bias, flag(relu), grid.Y, work
	return []Launch{k.grid(variant, grid, shared, convParams{y, a, b, c.images, r})}, nil
}
