package integer

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Scale maps a byte q to the value step·(q - zero).
type Scale struct {
	Step float32
	Zero uint8
}

// Quantize returns the byte for a value, clamped to 0 and 255.
func (s Scale) Quantize(x float32) uint8 {
	v := float32(x*(1/s.Step)) + float32(s.Zero)
	return uint8(math.RoundToEven(float64(min(max(v, 0), 255))))
}

// Value returns the value that a byte represents.
func (s Scale) Value(q uint8) float32 { return s.Step * float32(int(q)-int(s.Zero)) }

// Network is a sequence of layers. Its input is quantized, its output is float32.
type Network struct {
	Input  Scale
	Image  bool // the input is [N, C, H, W]; otherwise [… In]
	Layers []Layer

	cache
}

// Layer is a [*MatMul], a [*MaxPool] or a [Flatten].
type Layer interface {
	// shape returns the output shape of one example, [C, H, W] or [In].
	shape(in []int) ([]int, error)
}

// Window is the sliding window of a convolution or pooling. The fields are those of
// tensor.Window, with the defaults filled in.
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

// MatMul is a convolution of images [H, W, C] or a linear layer.
type MatMul struct {
	Window
	Image   bool
	In, Out int // channels, or features
	Groups  int

	// Weight is [Out, Kernel[0], Kernel[1], In/Groups].
	Weight []int8
	// An output is Factor·sum + Bias, where sum is the integer dot product. Factor is the
	// step of the output's weights times the step of the input.
	Factor, Bias []float32
	ReLU         bool
	// Output is nil for the last MatMul of a Network, whose output is float32.
	Output *Scale
}

// Depth returns the length of the dot product of an output.
func (p *MatMul) Depth() int { return p.Kernel[0] * p.Kernel[1] * p.In / p.Groups }

// MaxDepth is the maximum depth. The sum of a longer dot product could exceed 32 bits.
const MaxDepth = math.MaxInt32 / (255 * 128)

func (p *MatMul) shape(in []int) ([]int, error) {
	if !p.Image {
		if len(in) != 1 || in[0] != p.In {
			return nil, fmt.Errorf("the input has the shape %v, want %d features", in, p.In)
		}
		return []int{p.Out}, nil
	}
	if len(in) != 3 || in[0] != p.In {
		return nil, fmt.Errorf("the input has the shape %v, want images [C H W] with %d channels", in, p.In)
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
		return nil, fmt.Errorf("the input has the shape %v, want images [C H W] that are not smaller than the window %v", in, p.Kernel)
	}
	return []int{in[0], p.size(in[1], 0), p.size(in[2], 1)}, nil
}

// Flatten treats images as rows, in the order [H, W, C].
type Flatten struct{}

func (Flatten) shape(in []int) ([]int, error) {
	if len(in) == 0 {
		return nil, fmt.Errorf("the input is a scalar, want at least one dimension to flatten")
	}
	n := 1
	for _, d := range in {
		n *= d
	}
	return []int{n}, nil
}

// Shapes returns the number of examples of a batch with a shape, and the shapes of one
// example: that of the input, followed by those of each layer's output.
func (n *Network) Shapes(batch []int) (count int, shapes [][]int, err error) {
	rank := 1
	if n.Image {
		rank = 3
	}
	if len(batch) < rank || n.Image && len(batch) != 4 {
		return 0, nil, fmt.Errorf("the input has the shape %v, want a batch of %d-dimensional examples", batch, rank)
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

// Output returns the shape of the output for a batch with a shape.
func (n *Network) Output(batch []int) ([]int, error) {
	_, shapes, err := n.Shapes(batch)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(batch[:len(batch)-len(shapes[0])]), shapes[len(shapes)-1]...), nil
}

// Weights are the 8-bit weights of a linear layer that computes in floating point:
// w[o, i] ≈ Step[o]·Weight[o·In+i].
type Weights struct {
	Out, In int
	Weight  []int8
	Step    []float32

	cache
}

// cache holds the data that devices have derived from a description, for as long as the
// description exists.
type cache struct {
	once sync.Once
	id   int

	mu   sync.Mutex
	made map[string]any
}

var ids atomic.Int64

// ID returns a number that identifies the description.
func (c *cache) ID() int {
	c.once.Do(func() { c.id = int(ids.Add(1)) })
	return c.id
}

// Made returns the value with a name, which make creates once.
func (c *cache) Made(name string, make func() any) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.made[name]; ok {
		return x
	}
	if c.made == nil {
		c.made = map[string]any{}
	}
	x := make()
	c.made[name] = x
	return x
}
