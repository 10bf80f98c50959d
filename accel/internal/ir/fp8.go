package ir

// FP8Multiplier is implemented by a device that may multiply 8-bit floats with one
// scale a factor and add the products up in float32.
type FP8Multiplier interface {
	// MultipliesFP8 is nil on a device that does, else why it does not.
	MultipliesFP8() error
}

// Products of 8-bit floats, before → after:
//
//	a' = round8(a); b' = round8(b); y = float32(a')·float32(b')
//	A = pack(a); B = pack(b); y = A·B
//
// on a device that multiplies them. It needs what halve has found out, of which it is
// a part, and promises that both factors lie as tensor cores want 8-bit numbers,
// with neighbours along the dimension that is summed over: the step of Round8 writes
// its numbers row by row, or column by column, or both, as products need them. The
// bfloat16 numbers are no more made if nobody else reads them.

// packed is the numbers of a Round8 in one of two orders.
type packed struct {
	wanted bool
	slot   int
}

// The orders.
const (
	asTheyLie = 0
	turned    = 1
)

// A packed matrix is a head, where the device keeps the scale, and rows, each of
// which starts at a multiple of packedAlign bytes.
const (
	packedHead  = 64
	packedAlign = 16
)

// packedLayout is where the numbers of a matrix are in a slot of their own.
func packedLayout(shape []int) Layout {
	pitch := (shape[1] + packedAlign - 1) / packedAlign * packedAlign
	return Layout{Shape: shape, Stride: []int{pitch, 1}, Offset: packedHead}
}

// order tells how a matrix must be packed that is read through a layout, and has
// neighbours along its last dimension then.
func order(of *planned, l Layout) (order int, ok bool) {
	shape := of.node.shape
	if len(shape) != 2 || len(l.Shape) != 2 || l.Offset != 0 || Len(shape) == 0 {
		return 0, false
	}
	plain := RowMajor(shape)
	switch {
	case sameShape(l.Shape, shape) && sameShape(l.Stride, plain.Stride):
		return asTheyLie, true
	case l.Shape[0] == shape[1] && l.Shape[1] == shape[0] && l.Stride[0] == plain.Stride[1] && l.Stride[1] == plain.Stride[0]:
		return turned, true
	}
	return 0, false
}

// eightFactors tells whether a product's factors are all of Round8, and gives their
// layouts the last dimension as the one that is summed over.
func (p *planner) fp8Factors(n *planned, narrow map[int]operandSource) bool {
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
		if _, ok := order(in.node, in.layout); !ok {
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

// pack has a factor be packed, and is the type of its numbers.
func (p *planner) pack(in operandSource) DType {
	o, _ := order(in.node, in.layout)
	in.node.packs[o].wanted = true
	return in.node.node.op.(Round8).To
}

// roundHalf has Round8 read 16-bit floats as they are.
func (p *planner) roundTo16Bit(n *planned) {
	if _, ok := n.node.op.(Round8); !ok {
		return
	}
	if in, d, ok := p.narrowed(n.inputs[0]); ok {
		n.inputs[0], n.dtypes = in, []DType{d}
	}
}

// packedOperand is a factor as it was packed.
func (b *builder) packedOperand(in operandSource) Operand {
	o, _ := order(in.node, in.layout)
	slot := in.node.packs[o].slot
	b.last[slot] = len(b.program.Steps)
	return Operand{Slot: slot, DType: in.node.node.op.(Round8).To, Layout: packedLayout(in.layout.Shape)}
}

// packed is what the step of a Round8 writes: bfloat16 numbers if anybody reads
// them, and those that were packed, of which the layouts tell the order.
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
		if o == turned {
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
