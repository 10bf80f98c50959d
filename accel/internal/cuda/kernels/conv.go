package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

type convParams struct {
	Y, A, B Pointer
	Images  images
	Result  result
}

var (
	convForward = declare[convParams]("conv", "conv_forward", reals, 256)
	convInput   = declare[convParams]("conv", "conv_input", reals, 256)
	convWeight  = declare[convParams]("conv", "conv_weight", reals, 256)
)

// convolution is one of the three matrix multiplications (implicit GEMM).
type convolution struct {
	o           Conv2D
	kernel      kernel[convParams]
	direct      func(y, a, b, bias Pointer, relu bool) []Launch // for small groups
	m, n, depth int                                             // sizes of one group's matrices
	images      images
	result      result
	size        int // of the result
}

func (o Conv2D) forward() convolution {
	plane := o.OH * o.OW
	c := convolution{o: o, kernel: convForward, m: o.O / o.Groups, n: o.N * plane, depth: o.C / o.Groups * o.KH * o.KW, images: o.images(plane, o.OW)}
	c.result = result{Row: int64(plane), Outer: int64(o.O * plane), Batch: int64(c.m * plane), Inner: newDivisor(plane), BiasRows: 1}
	c.size = o.N * o.O * plane
	c.direct = o.directLaunches
	return c
}

func (o Conv2D) input() convolution {
	plane := o.H * o.W
	c := convolution{o: o, kernel: convInput, m: o.C / o.Groups, n: o.N * plane, depth: o.O / o.Groups * o.KH * o.KW, images: o.images(plane, o.W)}
	c.result = result{Row: int64(plane), Outer: int64(o.C * plane), Batch: int64(c.m * plane), Inner: newDivisor(plane)}
	c.size = o.N * o.C * plane
	c.direct = func(dx, dy, w, _ Pointer, _ bool) []Launch { return o.directInput(dx, dy, w) }
	return c
}

func (o Conv2D) weight() convolution {
	plane, inner := o.OH*o.OW, o.C/o.Groups*o.KH*o.KW
	c := convolution{o: o, kernel: convWeight, m: o.O / o.Groups, n: inner, depth: o.N * plane, images: o.images(plane, o.OW)}
	c.result = result{Row: int64(inner), Batch: int64(c.m * inner), Inner: newDivisor(inner)}
	c.size = o.O * inner
	c.direct = func(dw, x, dy, _ Pointer, _ bool) []Launch { return o.directWeight(dw, x, dy) }
	return c
}

func (c convolution) blocks(tile int) int { return ceil(c.m, tile) * ceil(c.n, tile) }

// parts returns the number of parts that the depth is split into, for tiles of the given
// size.
func (c convolution) parts(tile int) int { return splitK(c.blocks(tile)*c.o.Groups, atOnce, c.depth) }

func (c convolution) workspace() int { return c.partBytes(64, c.o.DType.Size()) }

func (c convolution) partBytes(tile, size int) int {
	if c.o.direct() {
		return 0
	}
	return partBytes(c.parts(tile), c.blocks(tile)*c.o.Groups, tile*tile, size)
}

// checkSize returns an error for sizes beyond the kernels' 32-bit counters.
func (c convolution) checkSize() error {
	if max(c.m, c.n, c.depth) > maxSide || c.o.Groups > 65535 {
		return fmt.Errorf("a convolution as matrices of %d×%d by depth %d in %d groups is too large for the kernels' 32-bit counters", c.m, c.n, c.depth, c.o.Groups)
	}
	return nil
}

// grid has one block per tile along x, the parts along y, the groups along z.
func (c convolution) grid(tile, parts int) driver.Dim {
	return driver.Dim{X: uint32(c.blocks(tile)), Y: uint32(parts), Z: uint32(c.o.Groups)}
}

func (c convolution) launches(y, a, b, bias, work Pointer, relu bool) ([]Launch, error) {
	if c.size == 0 {
		return nil, nil
	}
	if err := c.checkSize(); err != nil {
		return nil, err
	}
	if c.o.direct() {
		return c.direct(y, a, b, bias, relu), nil
	}
	v, parts := real(c.o.DType), c.parts(64)
	r := c.result
	r.Bias, r.ReLU, r.Parts, r.Work = bias, flag(relu), uint32(parts), work
	return []Launch{c.kernel.grid(v, c.grid(64, parts), 0, convParams{y, a, b, c.images, r})}, nil
}

// Workspace returns the size of the workspace of Launches.
func (o Conv2D) Workspace() int { return o.forward().workspace() }

// InputWorkspace returns the size of the workspace of InputGradient.
func (o Conv2D) InputWorkspace() int { return o.input().workspace() }

// WeightWorkspace returns the size of the workspace of WeightGradient.
func (o Conv2D) WeightWorkspace() int { return o.weight().workspace() }

// Launches computes y. bias [O] is 0 for none. It returns an error for sizes beyond the
// kernels' counters.
func (o Conv2D) Launches(y, x, w, bias, work Pointer, relu bool) ([]Launch, error) {
	return o.forward().launches(y, x, w, bias, work, relu)
}

// InputGradient computes dx from dy and w.
func (o Conv2D) InputGradient(dx, dy, w, work Pointer) ([]Launch, error) {
	return o.input().launches(dx, dy, w, 0, work, false)
}

// WeightGradient computes dw from x and dy.
func (o Conv2D) WeightGradient(dw, x, dy, work Pointer) ([]Launch, error) {
	return o.weight().launches(dw, x, dy, 0, work, false)
}
