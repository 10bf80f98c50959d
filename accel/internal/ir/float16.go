package ir

// Float16Multiplier is implemented by a device that multiplies 16-bit floats with float32
// accumulation, as tensor cores do.
type Float16Multiplier interface {
	// Multiplies16Bit reports whether the device computes an op with operands of this type
	// and these layouts, with a result of float32 or this type.
	Multiplies16Bit(op Op, d DType, factors []Layout) bool
}

// FusedRounder is implemented by a device whose fused kernels round results to 16-bit
// floats.
type FusedRounder interface{ FusedKernelsRound() bool }

// rounds reports whether a node is a cast to 16 bits that is part of a fused kernel. Then
// neither the values before it need to be in memory, nor those that are computed from the
// rounded value.
func (p *planner) rounds(v *Value) bool {
	c, ok := v.op.(Cast)
	return ok && p.fusedRounds && p.fuse && c.To.Is16Bit() && (v.in[0].dtype == Float32 || v.in[0].dtype.Is16Bit())
}

// multiplication is an op that multiplies some of its inputs.
type multiplication interface {
	factors() []int
	// addend is the index of the input that is added to the result, or -1.
	addend() int
}

// useFloat16 lets matrix multiplications read 16-bit floats directly, before → after:
//
//	a' = float32(a); b' = float32(b); y = a'·b'; z = bfloat16(y)    z = a·b
//
// where a and b are bfloat16, on a device that multiplies them. The casts are removed if
// their results have no other users. It needs resolved inputs.
func (p *planner) useFloat16() {
	if p.float16 == nil || !p.fuse {
		return
	}
	users := make([][]*planned, len(p.nodes))
	for _, n := range p.nodes {
		for _, x := range n.node.in {
			if x.index >= 0 {
				users[x.index] = append(users[x.index], n)
			}
		}
	}
	for _, n := range p.nodes {
		if op, ok := n.node.op.(multiplication); ok && n.class == Whole && n.node.dtype == Float32 {
			p.useFloat16In(n, op, users)
		}
		p.roundFrom16Bit(n)
	}
}

func (p *planner) useFloat16In(n *planned, op multiplication, users [][]*planned) {
	var short DType
	var layouts []Layout
	narrow := map[int]operandSource{}
	for _, k := range op.factors() {
		in, d, ok := p.uncast(n.inputs[k])
		if !ok || len(narrow) > 0 && d != short {
			return
		}
		narrow[k], short = in, d
		layouts = append(layouts, in.layout)
	}
	fp8 := p.fp8 != nil && p.fp8Operands(n, narrow)
	if !fp8 && !p.float16.Multiplies16Bit(n.node.op, short, layouts) {
		return
	}
	n.dtypes = make([]DType, len(n.inputs))
	for k, x := range n.node.in {
		n.dtypes[k] = x.dtype
	}
	for k, in := range narrow {
		n.inputs[k], n.dtypes[k] = in, short
		if fp8 {
			n.dtypes[k] = p.pack(in)
		}
	}

	// The result is rounded directly if the cast is its only user.
	of := users[n.node.index]
	if n.kept || len(of) != 1 {
		return
	}
	u := of[0]
	if c, ok := u.node.op.(Cast); !ok || c.To != short || u.inputs[0].node != n || u.inputs[0].viewed {
		return
	}
	if k := op.addend(); k >= 0 && k < len(n.inputs) {
		in, d, ok := p.uncast(n.inputs[k])
		if !ok || d != short {
			return
		}
		n.inputs[k], n.dtypes[k] = in, short
	}
	u.absorbed = n
}

// uncast returns the 16-bit float that an input was cast from.
func (p *planner) uncast(in operandSource) (operandSource, DType, bool) {
	if in.node == nil {
		return in, 0, false
	}
	c, ok := in.node.node.op.(Cast)
	if !ok || c.To != Float32 || !in.node.node.in[0].dtype.Is16Bit() {
		return in, 0, false
	}
	from := in.node.inputs[0]
	switch {
	case from.layout.Contiguous():
		in.layout.Offset += from.layout.Offset
	case in.layout.Offset == 0 && in.layout.Contiguous() && sameShape(in.layout.Shape, from.layout.Shape):
		in.layout = from.layout // of a view, such as the queries in a projection to queries, keys and values
	default:
		return in, 0, false
	}
	return operandSource{node: from.node, external: from.external, layout: in.layout, viewed: in.viewed || from.viewed}, in.node.node.in[0].dtype, true
}

// dtype returns the type in which an input is read.
func (n *planned) dtype(input int) DType {
	if n.dtypes != nil {
		return n.dtypes[input]
	}
	return n.node.in[input].dtype
}

func (MatMul) factors() []int            { return []int{0, 1} }
func (MatMul) addend() int               { return -1 }
func (Linear) factors() []int            { return []int{0, 1} }
func (Linear) addend() int               { return 2 }
func (Conv2D) factors() []int            { return []int{0, 1} }
func (Conv2D) addend() int               { return 2 }
func (Conv2DInputGradient) addend() int  { return -1 }
func (Conv2DWeightGradient) addend() int { return -1 }
func (Attention) factors() []int         { return []int{0, 1, 2} }
func (Attention) addend() int            { return -1 }
func (AttentionGradient) factors() []int { return []int{0, 1, 2, 4} }
