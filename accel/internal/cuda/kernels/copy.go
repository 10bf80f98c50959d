package kernels

import (
	"slices"
	"strconv"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

type copyParams struct {
	Y, X   Pointer
	N      uint64
	Layout layout
}

type transposeParams struct {
	Y, X          Pointer
	Rows, Columns uint32
	Pitch, Step   int64
}

type rowsParams struct {
	Y, X                              Pointer
	Count, Length, ToPitch, FromPitch uint64
}

type padParams struct {
	Y, X                   Pointer
	Count, N, Before, Size uint64
}

var (
	copySizes  = []int{1, 2, 4, 8} // of elements
	moveWidths = []int{16, 4, 1}
)

func init() {
	register(planCopy[ir.Copy])
	register(planCopy[ir.Reshape])
	register(planConcat)
	register(planPad)
	addSized[copyParams]("copy", "copy", append(slices.Clone(copySizes), 16))
	addSized[transposeParams]("copy", "transpose", copySizes)
	addSized[rowsParams]("copy", "rows", moveWidths)
	addSized[padParams]("copy", "pad", moveWidths)
}

// bySize returns the kernel for elements of the given size in bytes.
func bySize[P any](file, name string, size int) kernel[P] {
	return kernel[P]{file, name + strconv.Itoa(size), moves, 256}
}

func addSized[P any](file, name string, sizes []int) {
	for _, n := range sizes {
		add(bySize[P](file, name, n).entry())
	}
}

// moveWidth returns the widest element that divides all of the sizes, in bytes.
func moveWidth(bytes ...int) int {
	for _, w := range moveWidths {
		whole := true
		for _, b := range bytes {
			whole = whole && b%w == 0
		}
		if whole {
			return w
		}
	}
	return 1
}

// Copy copies x to y in row-major order, for elements of Size bytes. The caller adds the
// layout's offset to x.
type Copy struct {
	Size   int
	Layout ir.Layout
}

// Launches computes y. It returns an error for a layout with too many dimensions.
func (o Copy) Launches(y, x Pointer) ([]Launch, error) {
	if ir.Len(o.Layout.Shape) == 0 {
		return nil, nil
	}
	if l := o.Layout.Squeeze(); len(l.Shape) <= 1 && (len(l.Shape) == 0 || l.Stride[0] == 1) {
		n := ir.Len(l.Shape) * o.Size
		return Rows{1, n, n, n}.Launches(y, x), nil
	}
	if launch, ok := o.transpose(y, x); ok {
		return []Launch{launch}, nil
	}
	o = o.widened(y, x)
	l, err := newLayout(o.Layout)
	if err != nil {
		return nil, err
	}
	n := ir.Len(o.Layout.Shape)
	return []Launch{bySize[copyParams]("copy", "copy", o.Size).launch("any", linear(n), copyParams{y, x, uint64(n), l})}, nil
}

// widened returns the same copy with the widest elements that the addresses and the strides allow.
// Elements can be joined if they are next to each other in x.
func (o Copy) widened(y, x Pointer) Copy {
	l := o.Layout.Squeeze()
	last := len(l.Shape) - 1
	if l.Stride[last] != 1 {
		return o
	}
	for _, size := range []int{16, 8, 4, 2} {
		n := size / o.Size // elements in one
		fits := n > 1 && l.Shape[last]%n == 0 && int(y)%size == 0 && int(x)%size == 0
		for _, stride := range l.Stride[:last] {
			fits = fits && stride%n == 0
		}
		if !fits {
			continue
		}
		wide := ir.Layout{Shape: slices.Clone(l.Shape), Stride: slices.Clone(l.Stride)}
		wide.Shape[last] /= n
		for i := range wide.Stride[:last] {
			wide.Stride[i] /= n
		}
		return Copy{size, wide}
	}
	return o
}

// transpose returns the launch for a batch of transposed matrices, and false if the layout
// is something else.
func (o Copy) transpose(y, x Pointer) (Launch, bool) {
	l := o.Layout.Squeeze()
	batch, step := 1, 0
	if len(l.Shape) == 3 {
		batch, step = l.Shape[0], l.Stride[0]
		l.Shape, l.Stride = l.Shape[1:], l.Stride[1:]
	}
	if len(l.Shape) != 2 || l.Stride[0] != 1 || l.Stride[1] < 16 || l.Shape[0] < 16 || l.Shape[1] < 16 {
		return Launch{}, false
	}
	rows, columns := l.Shape[0], l.Shape[1]
	blocks := batch * ceil(rows, 32) * ceil(columns, 32)
	if blocks > 1<<31-1 {
		return Launch{}, false
	}
	return bySize[transposeParams]("copy", "transpose", o.Size).launch("any", blocks,
		transposeParams{y, x, uint32(rows), uint32(columns), int64(l.Stride[1]), int64(step)}), true
}

// Rows copies Count rows of Length bytes each. The rows start FromPitch bytes apart in x
// and ToPitch bytes apart in y.
type Rows struct{ Count, Length, ToPitch, FromPitch int }

// Launches copies the rows.
func (o Rows) Launches(y, x Pointer) []Launch {
	if o.Count*o.Length == 0 {
		return nil
	}
	if o.Count == 1 { // the pitch does not matter
		o.ToPitch, o.FromPitch = o.Length, o.Length
	}
	w := moveWidth(o.Length, o.ToPitch, o.FromPitch, int(y), int(x))
	return []Launch{bySize[rowsParams]("copy", "rows", w).launch("any", linear(o.Count*o.Length/w),
		rowsParams{y, x, uint64(o.Count), uint64(o.Length / w), uint64(o.ToPitch / w), uint64(o.FromPitch / w)})}
}

func planCopy[O ir.Op](_ Planner, _ O, s ir.Step) Launcher {
	o := Copy{Size: s.In[0].DType.Size(), Layout: s.In[0].Layout}
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0]) }
}

// planConcat copies the tensors to y one after the other.
func planConcat(_ Planner, op ir.Concat, s ir.Step) Launcher {
	outer, pitch := ir.Len(s.Out[0].Shape[:op.Axis]), ir.Len(s.Out[0].Shape[op.Axis:])*s.Out[0].DType.Size()
	return func(a Addresses) (out []Launch, err error) {
		y := a.Out[0]
		for i, in := range s.In {
			bytes := ir.Len(in.Shape[op.Axis:]) * in.DType.Size()
			out = append(out, Rows{outer, bytes, pitch, bytes}.Launches(y, a.In[i])...)
			y += Pointer(bytes)
		}
		return out, nil
	}
}

// planPad copies rows, with zeros before and after each.
func planPad(_ Planner, op ir.Pad, s ir.Step) Launcher {
	outer, n, inner := splitAround(s.In[0].Shape, op.Axis, op.Axis+1)
	inner *= s.In[0].DType.Size()
	n, before, size := n*inner, op.Before*inner, op.Size*inner
	return func(a Addresses) ([]Launch, error) {
		if outer*size == 0 {
			return nil, nil
		}
		y, x := a.Out[0], a.In[0]
		w := moveWidth(n, before, size, int(y), int(x))
		return []Launch{bySize[padParams]("copy", "pad", w).launch("any", linear(outer*size/w),
			padParams{y, x, uint64(outer), uint64(n / w), uint64(before / w), uint64(size / w)})}, nil
	}
}
