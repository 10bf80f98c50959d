package ir

// FP8Multiplier is implemented by a device that can multiply 8-bit floats, with one scale
// per operand and float32 accumulation.
type FP8Multiplier interface {
	// MultipliesFP8 returns nil if the device multiplies 8-bit floats, else the reason why
	// it does not.
	MultipliesFP8() error
}

// FP8 matrix multiplication, before → after:
//
//	a' = round8(a); b' = round8(b); y = float32(a')·float32(b')
//	A = pack(a); B = pack(b); y = A·B
//
// on a device that multiplies FP8. It is part of useFloat16, whose results it needs, and
// guarantees that both operands have the memory order of FP8 tensor cores: contiguous along
// the dimension that is summed over. The step of Round8 writes its elements row by row,
// column by column, or both, as the matmuls need them. The bfloat16 values are only
// computed if they have other users.

// packed is the result of a Round8 in one of two orders.
type packed struct {
	wanted bool
	slot   int
}

// The orders of packed elements.
const (
	rowOrder    = 0
	columnOrder = 1
)

// A packed matrix is a head, in which the device stores the scale, and rows, each of which
// starts at a multiple of packedAlign bytes.
const (
	packedHead  = 64
	packedAlign = 16
)

// packedLayout returns the layout of a packed matrix in its own slot.
func packedLayout(shape []int) Layout {
	pitch := (shape[1] + packedAlign - 1) / packedAlign * packedAlign
	return Layout{Shape: shape, Stride: []int{pitch, 1}, Offset: packedHead}
}

// packOrder returns how to pack a matrix that is read through a layout, so that it is
// contiguous along its last dimension.
func packOrder(of *planned, l Layout) (order int, ok bool) {
	shape := of.node.shape
	if len(shape) != 2 || len(l.Shape) != 2 || l.Offset != 0 || Len(shape) == 0 {
		return 0, false
	}
	plain := RowMajor(shape)
	switch {
	case sameShape(l.Shape, shape) && sameShape(l.Stride, plain.Stride):
		return rowOrder, true
	case l.Shape[0] == shape[1] && l.Shape[1] == shape[0] && l.Stride[0] == plain.Stride[1] && l.Stride[1] == plain.Stride[0]:
		return columnOrder, true
	}
	return 0, false
}

// fp8Operands reports whether all operands of a matmul are results of Round8, and makes the
// last dimension of their layouts the one that is summed over.
func (p *planner) fp8Operands(n *planned, narrow map[int]operandSource) bool {
	along := map[int]operandSource{}
	for k, in := range narrow {
		if in.node == nil {
			return false
		}
		if _, ok := in.node.node.op.(Round8); !ok || len(in.layout.Shape) != 2 {
			return false
		}
		if _, ok := n.node.op.(MatMul); ok && k == 1 {
			l := in.layout
			in.layout = Layout{Shape: []int{l.Shape[1], l.Shape[0]}, Stride: []int{l.Stride[1], l.Stride[0]}, Offset: l.Offset}
		}
		if _, ok := packOrder(in.node, in.layout); !ok {
			return false
		}
		along[k] = in
	}
	switch n.node.op.(type) {
	case MatMul, Linear:
	default:
		return false
	}
	for k, in := range along {
		narrow[k] = in
	}
	return true
}

// pack requests a packed operand and returns its element type.
func (p *planner) pack(in operandSource) DType {
	o, _ := packOrder(in.node, in.layout)
	in.node.packs[o].wanted = true
	return in.node.node.op.(Round8).To
}

// roundFrom16Bit makes Round8 read 16-bit floats directly.
func (p *planner) roundFrom16Bit(n *planned) {
	if _, ok := n.node.op.(Round8); !ok {
		return
	}
	if in := p.narrow(n, 0); in != nil {
		n.inputs[0], n.dtypes = *in, []DType{p.typeOf(*in)}
	}
}

// packedOperand returns an operand in its packed form.
func (b *builder) packedOperand(in operandSource) Operand {
	o, _ := packOrder(in.node, in.layout)
	slot := in.node.packs[o].slot
	b.last[slot] = len(b.program.Steps)
	return Operand{Slot: slot, DType: in.node.node.op.(Round8).To, Layout: packedLayout(in.layout.Shape)}
}

// packed returns the outputs of a Round8 step: bfloat16 values if they have users, and the
// packed elements, whose order is given by the layouts.
func (b *builder) packed(n *planned) []Operand {
	var out []Operand
	read := n.kept
	for _, u := range n.users {
		if u.class == View {
			read = true
		}
		for k, in := range u.inputs {
			read = read || in.node == n && !u.dtype(k).IsFP8()
		}
	}
	if read {
		out = append(out, b.result(n))
	}
	for o := range n.packs {
		if !n.packs[o].wanted {
			continue
		}
		shape := n.node.shape
		l := packedLayout(shape)
		bytes := packedHead + shape[0]*l.Stride[0]
		if o == columnOrder {
			t := packedLayout([]int{shape[1], shape[0]})
			bytes = packedHead + shape[1]*t.Stride[0]
			l.Stride = []int{1, t.Stride[0]}
		}
		slot := b.slot(Slot{Kind: Arena, Bytes: bytes})
		b.first[slot], b.last[slot] = len(b.program.Steps), len(b.program.Steps)
		n.packs[o].slot = slot
		out = append(out, Operand{Slot: slot, DType: n.node.op.(Round8).To, Layout: l})
	}
	return out
}
