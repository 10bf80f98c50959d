package kernels

import "fmt"

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
