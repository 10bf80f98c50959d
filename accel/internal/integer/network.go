package integer

import (
	"fmt"
	"math"
	"slices"
)

// Scale maps bytes to numbers: step·(q - zero).
type Scale struct {
	Step float32
	Zero uint8
}

// Quantize returns the byte for a number, clamped to 0 and 255.
func (s Scale) Quantize(x float32) uint8 {
	v := float32(x*(1/s.Step)) + float32(s.Zero)
	return uint8(math.RoundToEven(float64(min(max(v, 0), 255))))
}

// Value returns the number that a byte represents.
func (s Scale) Value(q uint8) float32 { return s.Step * float32(int(q)-int(s.Zero)) }

// Network is a sequence of layers. Its input is quantized, its output is float32.
type Network struct {
	Input  Scale
	Image  bool // the input is [N, C, H, W], else [… In]
	Layers []Layer

	cache
}

// Layer is a [*Product], a [*MaxPool] or a [Flatten].
type Layer interface {
	// shape is that of an example of the output, [C, H, W] or [In].
	shape(in []int) ([]int, error)
}

// Window is how a layer looks at an image; all numbers are as in tensor.Window, with
// their defaults filled in.
type Window struct {
	Kernel, Stride, Padding, Dilation [2]int
}

// Point returns the window of a layer whose input is not an image.
func Point() Window {
	return Window{Kernel: [2]int{1, 1}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}}
}

// size returns the output size along an axis.
func (w Window) size(n, axis int) int {
	reach := w.Dilation[axis] * (w.Kernel[axis] - 1)
	if n+2*w.Padding[axis] <= reach {
		return 0
	}
	return (n+2*w.Padding[axis]-reach-1)/w.Stride[axis] + 1
}

// Product is a convolution of images [H, W, C], or a linear layer of rows.
type Product struct {
	Window
	Image   bool
	In, Out int // channels, or features
	Groups  int

	// Weight is [Out, Kernel[0], Kernel[1], In/Groups].
	Weight []int8
	// Factor is of each output the step of its weights times that of the input, and
	// Bias is added to it.
	Factor, Bias []float32
	ReLU         bool
	// Output is nil for the last product, which gives floats.
	Output *Scale
}

// Depth returns the number of products that are summed for an output.
func (p *Product) Depth() int { return p.Kernel[0] * p.Kernel[1] * p.In / p.Groups }

// MostDepth is the maximum depth: longer sums could exceed 32 bits.
const MostDepth = math.MaxInt32 / (255 * 128)

func (p *Product) shape(in []int) ([]int, error) {
	if !p.Image {
		if len(in) != 1 || in[0] != p.In {
			return nil, fmt.Errorf("rows of %d are needed", p.In)
		}
		return []int{p.Out}, nil
	}
	if len(in) != 3 || in[0] != p.In {
		return nil, fmt.Errorf("images of %d channels are needed", p.In)
	}
	h, w := p.size(in[1], 0), p.size(in[2], 1)
	if h < 1 || w < 1 {
		return nil, fmt.Errorf("images of %d×%d are smaller than the kernel", in[1], in[2])
	}
	return []int{p.Out, h, w}, nil
}

// MaxPool computes the maximum of each window. Padding is ignored.
type MaxPool struct{ Window }

func (p *MaxPool) shape(in []int) ([]int, error) {
	if len(in) != 3 || p.size(in[1], 0) < 1 || p.size(in[2], 1) < 1 {
		return nil, fmt.Errorf("images of at least the window's size are needed")
	}
	return []int{in[0], p.size(in[1], 0), p.size(in[2], 1)}, nil
}

// Flatten treats images as rows, in the order [H, W, C].
type Flatten struct{}

func (Flatten) shape(in []int) ([]int, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("there is nothing to flatten")
	}
	n := 1
	for _, d := range in {
		n *= d
	}
	return []int{n}, nil
}

// Shapes returns those of an example, that of the input first and then of each layer's
// output, for a batch of this shape; and the number of examples.
func (n *Network) Shapes(batch []int) (count int, shapes [][]int, err error) {
	rank := 1
	if n.Image {
		rank = 3
	}
	if len(batch) < rank || n.Image && len(batch) != 4 {
		return 0, nil, fmt.Errorf("a batch of %d-dimensional examples is needed", rank)
	}
	count = 1
	lead := len(batch) - rank
	for _, d := range batch[:lead] {
		count *= d
	}
	shape := slices.Clone(batch[lead:])
	shapes = append(shapes, shape)
	for i, l := range n.Layers {
		if shape, err = l.shape(shape); err != nil {
			return 0, nil, fmt.Errorf("layer %d: %w", i, err)
		}
		shapes = append(shapes, shape)
	}
	return count, shapes, nil
}

// Output returns the shape of the output for a batch of this shape.
func (n *Network) Output(batch []int) ([]int, error) {
	_, shapes, err := n.Shapes(batch)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(batch[:len(batch)-len(shapes[0])]), shapes[len(shapes)-1]...), nil
}
