package kernels

import "fmt"

func init() {
	for _, name := range []string{"forward", "input", "weight"} {
		add(convTensor(name, 128).entry(), convTensor(name, 64).entry())
	}
}

func convTensor(name string, tile int) kernel[convParams] {
	return kernel[convParams]{"convtensor", fmt.Sprintf("convtensor_%s%d", name, tile), []string{"tf32"}, 2 * tile}
}

// TensorConv2D is Conv2D on tensor cores: of float32 images and weights rounded to TF32, with float32
// accumulation.
type TensorConv2D struct{ Conv2D }

// tile returns the larger tile size if its tiles still fill the GPU.
func (c convolution) tile() int {
	if c.m > 64 && c.blocks(128)*c.o.Groups >= 132 {
		return 128
	}
	return 64
}

func (c convolution) tensorWorkspace() int { return c.partBytes(c.tile(), 4) }

func (o TensorConv2D) launches(c convolution, name string, y, a, b, bias, work Pointer, relu bool) ([]Launch, error) {
	if err := c.checkSize(); err != nil || c.size == 0 {
		return nil, err
	}
	if o.direct() {
		return c.direct(y, a, b, bias, relu), nil
	}
	v, tile := tensorType(o.DType), c.tile()
	parts := c.parts(tile)
	r := c.result
	r.Bias, r.ReLU, r.Parts, r.Work = bias, flag(relu), uint32(parts), work
	return []Launch{convTensor(name, tile).grid(v, c.grid(tile, parts), panelShared(tile), convParams{y, a, b, c.images, r})}, nil
}

// Workspace returns the size of the workspace of Launches.
func (o TensorConv2D) Workspace() int { return o.forward().tensorWorkspace() }

// InputWorkspace returns the size of the workspace of InputGradient.
func (o TensorConv2D) InputWorkspace() int { return o.input().tensorWorkspace() }

// WeightWorkspace returns the size of the workspace of WeightGradient.
func (o TensorConv2D) WeightWorkspace() int { return o.weight().tensorWorkspace() }

// Launches computes y. bias [O] is 0 for none. It returns an error for sizes beyond the
// kernels' counters.
func (o TensorConv2D) Launches(y, x, w, bias, work Pointer, relu bool) ([]Launch, error) {
	return o.launches(o.forward(), "forward", y, x, w, bias, work, relu)
}

// InputGradient computes dx from dy and w.
func (o TensorConv2D) InputGradient(dx, dy, w, work Pointer) ([]Launch, error) {
	return o.launches(o.input(), "input", dx, dy, w, 0, work, false)
}

// WeightGradient computes dw from x and dy.
func (o TensorConv2D) WeightGradient(dw, x, dy, work Pointer) ([]Launch, error) {
	return o.launches(o.weight(), "weight", dw, x, dy, 0, work, false)
}
