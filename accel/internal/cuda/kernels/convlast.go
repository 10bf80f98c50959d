package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

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
	for _, name := range []string{"forward", "input", "weight"} {
		add(convLast(name, 128, true).entry(), convLast(name, 64, true).entry(), convLast(name, 64, false).entry())
	}
}

var (
	lastForward = declare[lastForwardParams]("convlast", "convlast_forward_direct", float16Types, 256)
	lastInput   = declare[lastGradientParams]("convlast", "convlast_input_direct", float16Types, 256)
	lastWeight  = declare[lastGradientParams]("convlast", "convlast_weight_direct", float16Types, 256)
)

func convLast(name string, tile int, chunks bool) kernel[lastParams] {
	name = fmt.Sprintf("convlast_%s%d", name, tile)
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
	o           Conv2DLast
	name        string
	m, n, depth int // sizes of one group's matrices
	row, group  int // strides of the result
	images      lastImages
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

func (o Conv2DLast) forward() lastProduct {
	c, outputs := o.C/o.Groups, o.O/o.Groups
	return lastProduct{o, "forward", o.N * o.OH * o.OW, outputs, c * o.KH * o.KW, o.O, outputs, o.images(o.OH*o.OW, o.OW, c)}
}

func (o Conv2DLast) input() lastProduct {
	c, outputs := o.C/o.Groups, o.O/o.Groups
	return lastProduct{o, "input", o.N * o.H * o.W, c, outputs * o.KH * o.KW, o.C, c, o.images(o.H*o.W, o.W, outputs)}
}

func (o Conv2DLast) weight() lastProduct {
	c, outputs := o.C/o.Groups, o.O/o.Groups
	patch := c * o.KH * o.KW
	return lastProduct{o, "weight", outputs, patch, o.N * o.OH * o.OW, patch, outputs * patch, o.images(o.OH*o.OW, o.OW, c)}
}

func (p lastProduct) size() int { return p.m * p.n * p.o.Groups }

func (p lastProduct) blocks(tile int) int { return ceil(p.m, tile) * ceil(p.n, tile) }

// tile returns the larger tile size if its tiles still fill the GPU.
func (p lastProduct) tile(chunks bool) int {
	if chunks && min(p.m, p.n) > 64 && p.blocks(128)*p.o.Groups >= 132 {
		return 128
	}
	return 64
}

// inChunks reports whether panels may be copied in chunks of 8 channels.
func (p lastProduct) inChunks() bool {
	o := p.o
	return o.C/o.Groups%8 == 0 && (p.name == "forward" || o.O/o.Groups%8 == 0)
}

// parts returns the number of parts that the depth is split into.
func (p lastProduct) parts(tile int) int { return splitK(p.blocks(tile)*p.o.Groups, atOnce, p.depth) }

// workspace is for either kind of panels.
func (p lastProduct) workspace() int {
	if p.o.direct() {
		return 0
	}
	bytes := func(tile int) int { return partBytes(p.parts(tile), p.blocks(tile)*p.o.Groups, tile*tile, 4) }
	return max(bytes(64), bytes(p.tile(p.inChunks())))
}

func (p lastProduct) checkSize() error {
	if max(p.m, p.n, p.depth) > maxSide || p.o.Groups > 65535 {
		return fmt.Errorf("a convolution as matrices of %d×%d by depth %d in %d groups is too large for the kernels' 32-bit counters", p.m, p.n, p.depth, p.o.Groups)
	}
	return nil
}

func (p lastProduct) launches(y, a, b, bias, work Pointer, relu bool) []Launch {
	v := tensorType(p.o.DType)
	const chunk = 16 // bytes
	chunks := p.inChunks() && a%chunk == 0 && b%chunk == 0
	tile := p.tile(chunks)
	parts := p.parts(tile)
	r := result{Bias: bias, Row: int64(p.row), Batch: int64(p.group), Work: work, Inner: newDivisor(p.n), ReLU: flag(relu), Output16: flag(p.o.Output16), Parts: uint32(parts)}
	grid := driver.Dim{X: uint32(p.blocks(tile)), Y: uint32(parts), Z: uint32(p.o.Groups)}
	return []Launch{convLast(p.name, tile, chunks).grid(v, grid, panelShared(tile), lastParams{y, a, b, p.images, r})}
}

// Workspace returns the size of the workspace of Launches.
func (o Conv2DLast) Workspace() int { return o.forward().workspace() }

// InputWorkspace returns the size of the workspace of InputGradient.
func (o Conv2DLast) InputWorkspace() int { return o.input().workspace() }

// WeightWorkspace returns the size of the workspace of WeightGradient.
func (o Conv2DLast) WeightWorkspace() int { return o.weight().workspace() }

// Launches computes y. bias [O] is 0 for none. It returns an error for sizes beyond the
// kernels' counters.
func (o Conv2DLast) Launches(y, x, w, bias, work Pointer, relu bool) ([]Launch, error) {
	p := o.forward()
	if err := p.checkSize(); err != nil || p.size() == 0 {
		return nil, err
	}
	if o.direct() {
		return []Launch{lastForward.launch(tensorType(o.DType), linear(p.size()), lastForwardParams{y, x, w, p.images, bias, flag(relu), flag(o.Output16)})}, nil
	}
	return p.launches(y, x, w, bias, work, relu), nil
}

// InputGradient computes dx from dy and w.
func (o Conv2DLast) InputGradient(dx, dy, w, work Pointer) ([]Launch, error) {
	p := o.input()
	if err := p.checkSize(); err != nil || p.size() == 0 {
		return nil, err
	}
	if o.direct() {
		return []Launch{lastInput.launch(tensorType(o.DType), linear(p.size()), lastGradientParams{dx, dy, w, p.images, flag(o.Output16)})}, nil
	}
	return p.launches(dx, dy, w, 0, work, false), nil
}

// WeightGradient computes dw from x and dy.
func (o Conv2DLast) WeightGradient(dw, x, dy, work Pointer) ([]Launch, error) {
	p := o.weight()
	if err := p.checkSize(); err != nil || p.size() == 0 {
		return nil, err
	}
	if o.direct() {
		blocks := ceil(o.O, 32) * o.KH * o.KW * (o.C / o.Groups)
		return []Launch{lastWeight.launch(tensorType(o.DType), blocks, lastGradientParams{dw, x, dy, p.images, flag(o.Output16)})}, nil
	}
	return p.launches(dw, x, dy, 0, work, false), nil
}
