package kernels

import "fmt"

// lastImages describes the tensors of a convolution; see convlast.cu.
type lastImages struct {
	N, H, W, OH, OW, KH, KW      uint32
	C, O, Groups                 uint32
	Stride, Padding, Dilation    [2]int32
	Plane, Line, Channels, Width divisor
	Strides                      [2]divisor
}

type lastParams struct {
	Y, A, B Pointer
	Images  lastImages
	Result  result
}

type lastForwardParams struct {
	Y, X, W        Pointer
	Images         lastImages
	Bias           Pointer
	ReLU, Output16 uint32
}

type lastGradientParams struct {
	DX, A, B Pointer
	Images   lastImages
	Output16 uint32
}

var float16Types = []string{"bf16", "f16"}

func init() {
	for kind := ConvForward; kind <= ConvWeight; kind++ {
		add(convLast(kind, 128, true).entry(), convLast(kind, 64, true).entry(), convLast(kind, 64, false).entry())
	}
}

var (
	lastForward = declare[lastForwardParams]("convlast", "convlast_forward_direct", float16Types, 256)
	lastInput   = declare[lastGradientParams]("convlast", "convlast_input_direct", float16Types, 256)
	lastWeight  = declare[lastGradientParams]("convlast", "convlast_weight_direct", float16Types, 256)
)

func convLast(kind ConvKind, tile int, chunks bool) kernel[lastParams] {
	name := fmt.Sprintf("convlast_%v%d", kind, tile)
	if !chunks {
		name += "_any"
	}
	return kernel[lastParams]{"convlast", name, float16Types, 2 * tile}
}

// Conv2DLast is Conv2D of 16-bit floats on tensor cores, with float32 accumulation, of images and weights
// that have the channels last in memory: x [N, H, W, C], y [N, OH, OW, O] and w [O, KH, KW, C/Groups]. The result
// and the bias are float32, or with Output16 of the inputs' type.
type Conv2DLast struct {
	Conv2D
	Output16 bool
}

// withoutColumns returns the same convolution of images that have the channels last with windows of one
// column, if windows are next to each other: the pixels of a window's row are one of more channels.
func (o Conv2D) withoutColumns() Conv2D {
	if o.Groups == 1 && o.Stride[1] == o.KW && o.Padding[1] == 0 && o.Dilation[1] == 1 && o.W == o.OW*o.KW {
		o.C, o.W, o.KW, o.Stride[1] = o.C*o.KW, o.OW, 1, 1
	}
	return o
}

// lastProduct is one of the three matrix multiplications: of m rows, which for images are pixels, n columns,
// which are channels, and depth.
type lastProduct struct {
	product
	row, group int // strides of the result
	images     lastImages
}

func (o Conv2DLast) images(plane, line, channels int) lastImages {
	g := lastImages{N: uint32(o.N), H: uint32(o.H), W: uint32(o.W), OH: uint32(o.OH), OW: uint32(o.OW), KH: uint32(o.KH), KW: uint32(o.KW),
		C: uint32(o.C / o.Groups), O: uint32(o.O / o.Groups), Groups: uint32(o.Groups),
		Plane: newDivisor(plane), Line: newDivisor(line), Channels: newDivisor(channels), Width: newDivisor(o.KW)}
	for i := range 2 {
		g.Stride[i], g.Padding[i], g.Dilation[i] = int32(o.Stride[i]), int32(o.Padding[i]), int32(o.Dilation[i])
		g.Strides[i] = newDivisor(o.Stride[i])
	}
	return g
}

func (o Conv2DLast) product(kind ConvKind) lastProduct {
	c, outputs, pixels := o.C/o.Groups, o.O/o.Groups, o.N*o.OH*o.OW
	patch := c * o.KH * o.KW
	switch kind {
	case ConvForward:
		return lastProduct{product{pixels, outputs, patch, o.Groups}, o.O, outputs, o.images(o.OH*o.OW, o.OW, c)}
	case ConvInput:
		return lastProduct{product{o.N * o.H * o.W, c, outputs * o.KH * o.KW, o.Groups}, o.C, c, o.images(o.H*o.W, o.W, outputs)}
	}
	return lastProduct{product{outputs, patch, pixels, o.Groups}, patch, outputs * patch, o.images(o.OH*o.OW, o.OW, c)}
}

// tile returns the larger tile size if its tiles still fill the GPU.
func (p lastProduct) tile(chunks bool) int {
	if chunks && min(p.m, p.n) > 64 && p.blocks(128)*p.groups >= 132 {
		return 128
	}
	return 64
}

// inChunks reports whether panels may be copied in chunks of 8 channels.
func (o Conv2DLast) inChunks(kind ConvKind) bool {
	return o.C/o.Groups%8 == 0 && (kind == ConvForward || o.O/o.Groups%8 == 0)
}

// Workspace returns the size of the workspace of Launches, for either kind of panels.
func (o Conv2DLast) Workspace(kind ConvKind) int {
	if o.direct() {
		return 0
	}
	p := o.product(kind)
	return max(p.partBytes(64, 4), p.partBytes(p.tile(o.inChunks(kind)), 4))
}

// Launches computes y, or the gradient that the kind names, as Conv2D does.
func (o Conv2DLast) Launches(kind ConvKind, y, a, b, bias, work Pointer, relu bool) ([]Launch, error) {
	p := o.product(kind)
	if err := p.checkSize(); err != nil || p.size() == 0 {
		return nil, err
	}
	if o.direct() {
		return []Launch{o.directLaunch(kind, p, y, a, b, bias, relu)}, nil
	}
	const chunk = 16 // bytes
	chunks := o.inChunks(kind) && a%chunk == 0 && b%chunk == 0
	tile := p.tile(chunks)
	grid := p.grid(tile)
	r := result{Bias: bias, Row: int64(p.row), Batch: int64(p.group), Work: work, Inner: newDivisor(p.n), ReLU: flag(relu), Output16: flag(o.Output16), Parts: grid.Y}
	return []Launch{convLast(kind, tile, chunks).grid(tensorType(o.DType), grid, panelShared(tile), lastParams{y, a, b, p.images, r})}, nil
}

func (o Conv2DLast) directLaunch(kind ConvKind, p lastProduct, y, a, b, bias Pointer, relu bool) Launch {
	v, gradient := tensorType(o.DType), lastGradientParams{y, a, b, p.images, flag(o.Output16)}
	switch kind {
	case ConvForward:
		return lastForward.launch(v, linear(p.size()), lastForwardParams{y, a, b, p.images, bias, flag(relu), flag(o.Output16)})
	case ConvInput:
		return lastInput.launch(v, linear(p.size()), gradient)
	}
	return lastWeight.launch(v, ceil(o.O, 32)*o.KH*o.KW*(o.C/o.Groups), gradient)
}
