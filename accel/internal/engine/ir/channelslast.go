package ir

import "slices"

// The order of images [N, C, H, W] in memory, where convolutions multiply 16-bit floats:
//
//	y = conv(x, w)                      x, w and y are in the order [N, H, W, C]
//	z = pool(relu(batchnorm(y)))        so are the results that are computed from them
//	f = reshape(z, [N, C·H·W])          a copy in row-major order, unless C or H·W is 1
//
// Tensor cores multiply the channels of a pixel, which are next to each other then. Shapes, axes and
// indices are those of [N, C, H, W] everywhere; only strides differ. A gradient is in the order
// of its convolution, and a weight when it is rounded. An op without kernels for that order
// gets copies; elementwise ops compute in the order of their inputs, or in the one that their users need.

// ChannelsLast is implemented by a device with kernels for images that have the channels last in
// memory.
type ChannelsLast interface {
	// ChannelsLast reports whether the kernels of an op read and write such images. Those of a
	// convolution of 16-bit floats read and write no others. It is false for all ops of a device that
	// convolves images in row-major order.
	ChannelsLast(op Op) bool
}

// imageOp is an op on images, or on the weights of a convolution.
type imageOp interface {
	Op
	// images is how many inputs, the first ones, are in memory in the same order as the result.
	images() int
}

func (Conv2D) images() int                 { return 2 }
func (BatchNorm) images() int              { return 1 }
func (BatchNormSums) images() int          { return 2 }
func (BatchNormInputGradient) images() int { return 2 }
func (BatchStatistics) images() int        { return 1 }
func (MaxPool2D) images() int              { return 1 }
func (MaxPool2DGradient) images() int      { return 3 }
func (AvgPool2D) images() int              { return 1 }
func (AvgPool2DGradient) images() int      { return 1 }

// reordered is an op that can compute the same from inputs with permuted dimensions.
type reordered interface {
	Op
	// inOrder returns the op for inputs whose dimension i is perm[i]. The dimensions of a result of the same
	// rank are permuted in the same way. ok is false if there is none.
	inOrder(perm []int) (o Op, ok bool)
}

func (o Concat) inOrder(perm []int) (Op, bool) {
	o.Axis = slices.Index(perm, o.Axis)
	return o, o.Axis >= 0
}

func (o Pad) inOrder(perm []int) (Op, bool) {
	o.Axis = slices.Index(perm, o.Axis)
	return o, o.Axis >= 0
}

func (o Sum) inOrder(perm []int) (Op, bool) {
	if perm == nil {
		return nil, false
	}
	first, summed := -1, 0
	var left []int
	for i, p := range perm {
		switch {
		case p < o.From || p >= o.To:
			left = append(left, p)
		case summed > 0 && i != first+summed:
			return nil, false
		case summed == 0:
			first, summed = i, 1
		default:
			summed++
		}
	}
	o.From, o.To = first, first+summed
	return o, summed > 0 && slices.IsSorted(left)
}

// channelsLast returns the dimensions of images in the order in which they are in memory; nil for
// a rank that images do not have.
func channelsLast(rank int) []int {
	switch rank {
	case 3:
		return []int{0, 2, 1}
	case 4:
		return []int{0, 2, 3, 1}
	}
	return nil
}

// withChannelsLast returns the layout of a result with the channels last, which is the row-major
// one if both are the same.
func withChannelsLast(shape []int) Layout {
	l := RowMajor(shape)
	if perm := channelsLast(len(shape)); perm != nil {
		if last := RowMajor(l.permuted(perm).Shape).permuted(inverse(perm)); !last.Contiguous() {
			return last
		}
	}
	return l
}

// hasChannelsLast reports whether images are in memory with the channels last; those with one channel or
// one pixel are so in row-major order, too.
func (l Layout) hasChannelsLast() bool {
	perm := channelsLast(len(l.Shape))
	return perm != nil && l.permuted(perm).Contiguous()
}

// ChannelsLast reports whether images are in memory with the channels last, and not in row-major order.
func (l Layout) ChannelsLast() bool { return l.hasChannelsLast() && !l.Contiguous() }

// convolves16Bit reports whether a node is a convolution, or a gradient of one, whose factors were
// cast from one 16-bit type.
func (p *planner) convolves16Bit(v *Value) bool {
	m, ok := v.op.(multiplication)
	if _, images := v.op.(imageOp); !ok || !images || v.dtype != Float32 || !p.lasts.ChannelsLast(v.op) {
		return false
	}
	short := Float32
	for _, k := range m.factors() {
		x := v.in[k]
		if c, ok := x.op.(Cast); x.index < 0 || !ok || c.To != Float32 || !x.in[0].dtype.Is16Bit() || short != Float32 && x.in[0].dtype != short {
			return false
		}
		short = x.in[0].dtype
	}
	return true
}

// either reports whether the kernels of a node compute images in either order: it is no convolution.
func (p *planner) either(v *Value) bool {
	_, images := v.op.(imageOp)
	_, multiplies := v.op.(multiplication)
	return images && !multiplies && v.dtype == Float32 && p.lasts.ChannelsLast(v.op)
}

// order is in which order the users of a value read it.
type order struct{ last, rowMajor bool }

// orders returns in which order the users of each value read it: one of them, either, or both.
func (p *planner) orders(list []*Value) []order {
	out := make([]order, len(list))
	if p.lasts == nil {
		return out
	}
	images, live := p.imagesOf(list), make([]bool, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		v := list[i]
		if !live[i] && !p.kept(v) {
			continue
		}
		for k, x := range v.in {
			if x.index < 0 {
				continue
			}
			live[x.index] = true
			o := p.reads(v, k, out[i], images)
			of := &out[x.index]
			of.last, of.rowMajor = of.last || o.last, of.rowMajor || o.rowMajor
		}
	}
	return out
}

// lastValues reports for each value of a list whether it has the channels last, as far as that depends on its inputs.
type lastValues []bool

func (f lastValues) has(x *Value) bool {
	if x.index >= 0 {
		return f[x.index]
	}
	return operandSource{external: ^x.index, layout: x.layout}.images()
}

func (p *planner) imagesOf(list []*Value) lastValues {
	f := make(lastValues, len(list))
	for i, v := range list {
		switch op := v.op.(type) {
		case reordered:
			_, f[i] = op.inOrder(channelsLast(len(v.in[0].shape)))
			f[i] = f[i] && f.has(v.in[0]) && len(v.shape) == len(v.in[0].shape)
		case imageOp:
			f[i] = p.convolves16Bit(v) || p.either(v) && f.has(v.in[0])
		case viewer:
			l, ok := op.view(withChannelsLast(v.in[0].shape))
			f[i] = ok && l.sliceOfImages() && f.has(v.in[0])
		default:
			for _, x := range v.in {
				f[i] = f[i] || p.elementwise(v) && sameShape(x.shape, v.shape) && f.has(x)
			}
		}
		f[i] = f[i] && withChannelsLast(v.shape).ChannelsLast()
	}
	return f
}

func (p *planner) elementwise(v *Value) bool { return v.op.Class(v.in) == Elementwise || p.rounds(v) }

// reads returns in which order a node reads an input; result is how its own result is read.
func (p *planner) reads(v *Value, input int, result order, f lastValues) order {
	x := v.in[input]
	switch op := v.op.(type) {
	case imageOp:
		if p.convolves16Bit(v) || p.either(v) && f.has(v.in[0]) {
			return order{last: input < op.images()}
		}
	case viewer:
		l, ok := op.view(withChannelsLast(x.shape))
		switch {
		case !ok:
			return order{rowMajor: true}
		case l.hasChannelsLast():
			return result
		}
		return order{}
	case reordered:
		return order{}
	}
	switch {
	case !p.elementwise(v):
		return order{rowMajor: true}
	case !sameShape(x.shape, v.shape):
		return order{}
	}
	return order{last: result.last || f[v.index], rowMajor: result.rowMajor}
}

// images reports whether an operand is of images that have the channels last in memory because the planner or
// the program that made them chose that order: all of them, or a slice of images or channels.
func (s operandSource) images() bool {
	if s.node == nil {
		return len(s.layout.Shape) == 4 && s.layout.ChannelsLast()
	}
	return s.node.layout.ChannelsLast() && s.layout.sliceOfImages()
}

// sliceOfImages reports whether the channels of a pixel are next to each other, and more than one.
func (l Layout) sliceOfImages() bool {
	return channelsLast(len(l.Shape)) != nil && l.Shape[1] > 1 && l.Stride[1] == 1 && !l.Contiguous()
}

// arrange selects the order of a node's result in memory, and of the images that it reads.
func (p *planner) arrange(n *planned, read order) {
	v := n.node
	n.layout = RowMajor(v.shape)
	if p.lasts == nil {
		return
	}
	switch {
	case p.convolves16Bit(v):
		n.last = true
	case p.either(v):
		l := n.inputs[0].layout
		n.last = n.inputs[0].images() || l.hasChannelsLast() && read.last && !read.rowMajor
	case n.class == Elementwise:
		if read.rowMajor && !read.last {
			return
		}
		followed := false
		for k, s := range n.inputs {
			followed = followed || s.images() && sameShape(v.in[k].shape, v.shape)
		}
		if read.last && !read.rowMajor || followed {
			n.layout = withChannelsLast(v.shape)
		}
		return
	case n.class == Whole:
		if o, ok := v.op.(reordered); ok && n.inputs[0].images() {
			_, n.last = o.inOrder(channelsLast(len(v.in[0].shape)))
		}
	}
	if n.last && len(v.shape) == len(v.in[0].shape) {
		n.layout = withChannelsLast(v.shape)
	}
}

// sumPixels makes a sum over the pixels of each image and a sum over images, in either order, one sum over all
// pixels of images that have the channels last. The other sum is computed only if it has other users.
func (p *planner) sumPixels(n *planned) {
	second, ok := n.node.op.(Sum)
	if !ok || second.Mean {
		return
	}
	before := n.inputs[0]
	if before.node == nil || before.viewed {
		return
	}
	first, ok := before.node.node.op.(Sum)
	if !ok || first.Mean || before.node.class != Whole {
		return
	}
	x := before.node.inputs[0]
	images := Sum{From: 0, To: 1}
	pixels := Sum{From: 2, To: len(x.layout.Shape)}
	switch {
	case !x.images():
		return
	case first == pixels && second == images:
	case first == images && second == Sum{From: 1, To: pixels.To - 1}:
	default:
		return
	}
	n.typesOfInputs()[0] = before.node.dtype(0)
	n.inputs[0], n.pixels = x, true
}

// pixels returns a layout with the channels last as rows of channels.
func (l Layout) pixels() Layout {
	channels := l.Shape[1]
	return Layout{Shape: []int{Len(l.Shape) / channels, channels}, Stride: []int{channels, 1}, Offset: l.Offset}
}

// liesAs reports whether the elements of two layouts of one shape are in the same order in memory.
func (l Layout) liesAs(other Layout) bool {
	for i, n := range l.Shape {
		if n != 1 && l.Stride[i] != other.Stride[i] {
			return false
		}
	}
	return l.Offset == other.Offset
}

// inOrderOf returns a layout with the dimensions in the order in which those of a result are in memory.
func (l Layout) inOrderOf(result Layout) Layout {
	if !result.ChannelsLast() {
		return l
	}
	return l.permuted(channelsLast(len(result.Shape)))
}
