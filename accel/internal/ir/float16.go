package ir

// Float16Multiplier is implemented by a device that multiplies 16-bit floats as they are
// and adds the products up in float32, as tensor cores do.
type Float16Multiplier interface {
	// Multiplies16Bit tells whether a product takes factors of this type that lie so,
	// and gives float32 or this type.
	Multiplies16Bit(op Op, d DType, factors []Layout) bool
}

// FusedRounder is implemented by a device whose loops round results to 16-bit floats.
type FusedRounder interface{ FusedKernelsRound() bool }

// rounds tells whether a node is a cast to 16 bits that a loop makes: the numbers
// before it then need not be in memory, nor those behind it that go on with what it
// has rounded.
func (p *planner) rounds(v *Value) bool {
	c, ok := v.op.(Cast)
	return ok && p.fusedRounding && p.fuse && c.To.Is16Bit() && (v.in[0].dtype == Float32 || v.in[0].dtype.Is16Bit())
}

// product is an op that multiplies some of its inputs.
type product interface {
	factors() []int
	// addend is the input that is added to the products, or -1.
	addend() int
}

// halve gives products the 16-bit floats themselves, before → after:
//
//	a' = float32(a); b' = float32(b); y = a'·b'; z = bfloat16(y)    z = a·b
//
// where a and b are bfloat16, on a device that multiplies them. The casts are no
// more steps if nobody else reads what they give. It needs resolved inputs.
func (p *planner) halve() {
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
		if op, ok := n.node.op.(product); ok && n.class == Whole && n.node.dtype == Float32 {
			p.halveProduct(n, op, users)
		}
		p.roundTo16Bit(n)
	}
}

func (p *planner) halveProduct(n *planned, op product, users [][]*planned) {
	var short DType
	var layouts []Layout
	narrow := map[int]operandSource{}
	for _, k := range op.factors() {
		in, d, ok := p.narrowed(n.inputs[k])
		if !ok || len(narrow) > 0 && d != short {
			return
		}
		narrow[k], short = in, d
		layouts = append(layouts, in.layout)
	}
	eights := p.fp8 != nil && p.fp8Factors(n, narrow)
	if !eights && !p.float16.Multiplies16Bit(n.node.op, short, layouts) {
		return
	}
	n.dtypes = make([]DType, len(n.inputs))
	for k, x := range n.node.in {
		n.dtypes[k] = x.dtype
	}
	for k, in := range narrow {
		n.inputs[k], n.dtypes[k] = in, short
		if eights {
			n.dtypes[k] = p.pack(in)
		}
	}

	// The result is rounded where it is made, if that is all that becomes of it.
	of := users[n.node.index]
	if n.kept || len(of) != 1 {
		return
	}
	u := of[0]
	if c, ok := u.node.op.(Cast); !ok || c.To != short || u.inputs[0].node != n || u.inputs[0].viewed {
		return
	}
	if k := op.addend(); k >= 0 && k < len(n.inputs) {
		in, d, ok := p.narrowed(n.inputs[k])
		if !ok || d != short {
			return
		}
		n.inputs[k], n.dtypes[k] = in, short
	}
	u.absorbed = n
}

// narrowed is the 16-bit float that an input was made of by a cast to float32.
func (p *planner) narrowed(in operandSource) (operandSource, DType, bool) {
	if in.node == nil {
		return in, 0, false
	}
	c, ok := in.node.node.op.(Cast)
	if !ok || c.To != Float32 || !in.node.node.in[0].dtype.Is16Bit() {
		return in, 0, false
	}
	from := in.node.inputs[0]
	if !from.layout.Contiguous() {
		return in, 0, false
	}
	in.layout.Offset += from.layout.Offset
	return operandSource{node: from.node, external: from.external, layout: in.layout, viewed: in.viewed || from.viewed}, in.node.node.in[0].dtype, true
}

// dtype is that in which an input is read.
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
