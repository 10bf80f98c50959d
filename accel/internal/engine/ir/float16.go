package ir

// Float16Multiplier is implemented by a device that multiplies 16-bit floats with float32
// accumulation, as tensor cores do.
type Float16Multiplier interface {
	// Multiplies16Bit reports whether the device computes an op with operands of this type
	// and these layouts, with a result of float32 or this type.
	Multiplies16Bit(op Op, d DType, factors []Layout) bool
}

// Float16Reader is implemented by a device whose kernels for some other ops read and write 16-bit
// floats, and compute in float32.
type Float16Reader interface {
	// Reads16Bit reports whether the kernels of an op read an input in 16 bits.
	Reads16Bit(op Op, input int) bool
	// Writes16Bit reports whether the kernels of an op round its result to 16 bits.
	Writes16Bit(op Op) bool
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

// A 16-bit float is widened, computed with, and rounded again. In between, its float32 exists in
// registers only, before → after:
//
//	a' = float32(a); y = f(a')                     f(a), which widens what it loads
//	z = bfloat16(y), and y has no other users      f stores z
//	a' = float32(a); b = move(a'); f(b)            f(move(a))
//	y = f(x); b = move(y); z = bfloat16(b)         f stores 16 bits; z = move(y)
//	z = bfloat16(float32(a))                       a
//	a' = float32(a); y = relu(a')                  relu stores 16 bits; so does a max pool
//	y = attention(…); z = bfloat16(y)              attention stores 16 bits, also for its gradient
//
// where a is of bfloat16, f is an elementwise op or one that the device computes with 16-bit
// floats, and move is a view, a copy or a concatenation. No result changes by that: widening is
// exact, and neither moving an element nor selecting the largest changes it. So a matmul may also apply ReLU before it
// rounds.

// rounding says how the users of a float32 read it.
type rounding struct {
	to     DType // the type to which all users round it, maybe after moving it
	used   bool
	direct bool // a user rounds it without moving it
	no     bool // a user reads it as float32, or it outlives the list
	kept   bool // it or a view of it outlives the list
	others bool // an op other than Permute reads it
}

// permuted reports whether all users permute a value.
func (r rounding) permuted() bool { return r.used && !r.kept && !r.others }

// only reports whether all users round to a type.
func (r rounding) only(to DType) bool { return r.used && !r.no && r.to == to }

// onlyRounded returns how each value is rounded by its users, nil if the device computes
// with float32 only.
func (p *planner) onlyRounded(list []*Value) []rounding {
	if p.float16 == nil || !p.fuse {
		return nil
	}
	out := make([]rounding, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		v, r := list[i], &out[i]
		kept := p.kept(v)
		if !kept && !r.used {
			continue
		}
		r.kept = r.kept || kept
		r.no = r.no || kept || v.dtype != Float32
		to, direct, rounds := r.to, false, !r.no && moves16Bit(v.op)
		if c, ok := v.op.(Cast); ok && c.To.Is16Bit() {
			to, direct, rounds = c.To, true, true
		}
		_, permutes := v.op.(Permute)
		for k, x := range v.in {
			if x.index < 0 || readsAsStored(v.op, k) {
				continue
			}
			of := &out[x.index]
			of.others = of.others || !permutes
			of.no = of.no || !rounds || of.used && of.to != to
			of.to, of.used, of.direct = to, true, of.direct || direct
			of.kept = of.kept || r.kept && IsView(v.op)
		}
	}
	return out
}

// moves16Bit reports whether an op moves elements without regard to their type.
func moves16Bit(op Op) bool {
	_, cast := op.(Cast)
	return Moves(op) && !cast
}

// readsAsStored reports whether an op reads an input in the type in which it is in memory. The
// gradient of attention multiplies the result with its gradient, from which others get it rounded.
func readsAsStored(op Op, input int) bool {
	_, ok := op.(AttentionGradient)
	return ok && input == 3
}

// useFloat16 lets a node read and write 16-bit floats where that gives the same result. The
// node has been resolved, and so have all before it.
func (p *planner) useFloat16(n *planned, rounded rounding) {
	op := n.node.op
	if c, ok := op.(Cast); ok {
		s := p.narrow(n, 0)
		own := n.roundsUpdate() // what an update rounds for the next step has memory of its own, see errRounded
		switch {
		case s != nil && p.typeOf(*s) == c.To && !own:
			n.alias(*s)
			return
		case c.To == Float32 && n.node.in[0].dtype.Is16Bit():
			narrow := n.inputs[0]
			if rounded.kept { // others read the 16 bits
				n.castAsItLies(false)
			}
			n.narrow = &narrow
			return
		case c.To.Is16Bit():
			// A parameter is rounded once, also if a layer is called many times, and so is a value that
			// several layers read.
			id := n.inputs[0].rounded(c.To)
			if first, ok := p.roundedOnce[id]; ok && !own {
				n.alias(first)
				return
			}
			if !own && (n.inputs[0].node == nil || rounded.permuted()) && n.castAsItLies(rounded.permuted()) {
				p.roundedOnce[id] = operandSource{node: n.base, external: -1, layout: n.layout, viewed: true}
				return
			}
			p.roundedOnce[id] = operandSource{node: n, external: -1, layout: n.layout}
		}
	}
	if n.class == View {
		if s := p.narrow(n, 0); s != nil {
			if l, ok := op.(viewer).view(s.layout); ok {
				n.narrow = &operandSource{node: s.node, external: s.external, layout: l, viewed: true}
			}
		}
		return
	}
	for k := range n.inputs {
		if readsAsStored(op, k) {
			p.read16Bit(n, k)
		}
	}
	switch m, multiplies := op.(multiplication); {
	case multiplies && n.node.dtype == Float32:
		p.multiply16Bit(n, m, rounded)
	case n.class == Elementwise:
		for k := range n.inputs {
			// A cast that is in memory anyway may be in the same kernel.
			if x := n.inputs[k].node; x == nil || !x.kept {
				p.read16Bit(n, k)
			}
		}
		switch {
		case !p.fusedRounds:
		case isReLU(op) && n.dtype(0).Is16Bit() && n.node.dtype == Float32 && !rounded.kept:
			p.store16Bit(n, n.dtype(0))
		case rounded.only(rounded.to) && (!rounded.direct || p.slopeOf(n) != nil || p.activated(n) != nil):
			// Else the rounding is part of the kernel, and other ops in it may use its result.
			p.store16Bit(n, rounded.to)
		}
	case n.class == Whole && moves16Bit(op) && n.node.dtype == Float32 && !rounded.kept:
		p.move16Bit(n)
	case n.class == Whole && p.reader != nil:
		for k := range n.inputs {
			if p.reader.Reads16Bit(op, k) {
				p.read16Bit(n, k)
			}
		}
		_, largest := op.(MaxPool2D)
		switch {
		case n.node.dtype != Float32 || !p.reader.Writes16Bit(op):
		case largest && n.dtype(0).Is16Bit() && !rounded.kept:
			p.store16Bit(n, n.dtype(0))
		case rounded.only(rounded.to):
			p.store16Bit(n, rounded.to)
		}
	}
	p.roundFrom16Bit(n)
	for k, in := range n.inputs {
		if in.node != nil && in.node.store != n.dtype(k) && !n.dtype(k).IsFP8() {
			p.widen(n, k)
		}
	}
}

// roundedSource is a cast of a value, or of any other with the same elements in memory.
type roundedSource struct {
	node     *planned
	external int
	layout   string
	to       DType
}

func (s operandSource) rounded(to DType) roundedSource {
	l := appendInts(appendInts(appendInts(nil, len(s.layout.Shape), s.layout.Offset), s.layout.Shape...), s.layout.Stride...)
	return roundedSource{s.node, s.external, string(l), to}
}

// castAsItLies makes a cast of transposed elements a view of a cast that reads and writes them in the
// order in which they are in memory, and may be part of a batch. It returns false for rows of
// neighboring elements, unless rows is true, and for elements that do not fill a range of memory.
func (n *planned) castAsItLies(rows bool) bool {
	in := n.inputs[0]
	if n.layout.ChannelsLast() { // it is written in the order of images
		return false
	}
	if l := in.layout.Squeeze(); len(l.Shape) < 2 || l.Stride[len(l.Shape)-1] == 1 && (!rows || l.Contiguous()) {
		return false
	}
	order, ok := in.layout.inMemoryOrder()
	if !ok {
		return false
	}
	lies := in.layout.permuted(order)
	x := n.node.in[0]
	c := &planned{
		node: &Value{op: n.node.op, in: []*Value{x}, shape: lies.Shape, dtype: n.node.dtype, index: n.node.index},
		slot: -1, external: -1, class: Elementwise, store: n.store, layout: RowMajor(lies.Shape),
		inputs: []operandSource{{node: in.node, external: in.external, layout: lies, viewed: in.viewed}},
	}
	n.before = append(n.before, c)
	n.inputs = nil
	n.class, n.base, n.external, n.layout = View, c, -1, c.layout.permuted(inverse(order))
	return true
}

// alias makes a node another name of an operand that has its type.
func (n *planned) alias(of operandSource) {
	n.class, n.base, n.external, n.layout, n.aliased = View, of.node, of.external, of.layout, !of.viewed
}

// narrow returns the 16-bit floats that an input was cast from, or nil.
func (p *planner) narrow(n *planned, input int) *operandSource {
	if x := n.node.in[input]; x.index >= 0 {
		return p.nodes[x.index].narrow
	}
	return nil
}

// typeOf returns the type of an operand in memory.
func (p *planner) typeOf(s operandSource) DType {
	if s.node != nil {
		return s.node.store
	}
	return p.externals[s.external].dtype
}

// read16Bit lets a node read an input in 16 bits, if it was cast from them.
func (p *planner) read16Bit(n *planned, input int) {
	if s := p.narrow(n, input); s != nil {
		n.inputs[input], n.typesOfInputs()[input] = *s, p.typeOf(*s)
	}
}

// store16Bit makes 16-bit floats the result of a node, all users of which round it to them.
func (p *planner) store16Bit(n *planned, d DType) {
	n.store = d
	n.narrow = &operandSource{node: n, external: -1, layout: n.layout}
}

// move16Bit moves 16-bit floats instead of what was cast from them.
func (p *planner) move16Bit(n *planned) {
	from, to := TypedBy(n.node.op, len(n.inputs))
	var d DType
	for k := from; k < to; k++ {
		s := p.narrow(n, k)
		if s == nil || k > from && p.typeOf(*s) != d {
			return
		}
		d = p.typeOf(*s)
	}
	if from == to {
		return
	}
	for k := from; k < to; k++ {
		p.read16Bit(n, k)
	}
	p.store16Bit(n, d)
}

// widen casts an input that is in memory in 16 bits, for an op that reads float32 only.
func (p *planner) widen(n *planned, input int) {
	x, s := n.node.in[input], p.narrow(n, input)
	c := &planned{
		node: &Value{op: Cast{To: Float32}, in: []*Value{x}, shape: x.shape, dtype: Float32, index: n.node.index},
		slot: -1, external: -1, class: Elementwise, store: Float32, layout: RowMajor(x.shape),
		inputs: []operandSource{*s}, dtypes: []DType{p.typeOf(*s)},
	}
	if s.images() {
		c.layout = withChannelsLast(x.shape)
	}
	n.before = append(n.before, c)
	n.inputs[input] = operandSource{node: c, external: -1, layout: c.layout}
}

// multiply16Bit lets a matrix multiplication read its factors in 16 bits, and write its result.
func (p *planner) multiply16Bit(n *planned, op multiplication, rounded rounding) {
	if n.class != Whole {
		return
	}
	var short DType
	var layouts []Layout
	narrow := map[int]operandSource{}
	for _, k := range op.factors() {
		s := p.narrow(n, k)
		if s == nil || len(narrow) > 0 && p.typeOf(*s) != short {
			return
		}
		narrow[k], short = *s, p.typeOf(*s)
		layouts = append(layouts, s.layout)
	}
	fp8 := p.fp8 != nil && p.fp8Operands(n, narrow)
	if !fp8 && !p.float16.Multiplies16Bit(n.node.op, short, layouts) {
		return
	}
	types := n.typesOfInputs()
	for k, in := range narrow {
		n.inputs[k], types[k] = in, short
		if fp8 {
			types[k] = p.pack(in)
		}
	}
	if !rounded.only(short) {
		return
	}
	if _, ok := op.(Attention); ok && (p.reader == nil || !p.reader.Writes16Bit(n.node.op)) {
		return
	}
	if k := op.addend(); k >= 0 && k < len(n.inputs) {
		if s := p.narrow(n, k); s == nil || p.typeOf(*s) != short {
			return
		}
		p.read16Bit(n, k)
	}
	p.store16Bit(n, short)
}

// typesOfInputs returns the types in which the inputs are read, to change them.
func (n *planned) typesOfInputs() []DType {
	if n.dtypes == nil {
		n.dtypes = make([]DType, len(n.inputs))
		for k, x := range n.node.in {
			n.dtypes[k] = x.dtype
		}
	}
	return n.dtypes
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
