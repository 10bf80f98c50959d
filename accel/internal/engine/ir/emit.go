package ir

import "slices"

// builder assigns slots and emits steps.
type builder struct {
	*planner
	*plan
	first, last map[int]int // first step that writes and last step that reads each slot
	keptSlots   map[int]bool
	copies      map[string]int // slots of the copies of operands in row-major order
}

func (b *builder) build(steps [][]*group) {
	for _, x := range b.planner.externals {
		b.plan.externals = append(b.plan.externals, b.slot(Slot{Kind: External, Bytes: storageBytes(x)}))
	}
	b.keptSlots = map[int]bool{}
	for _, groups := range steps {
		if len(groups) > 1 {
			b.emitBatch(groups)
		} else {
			b.emit(groups[0])
		}
	}
	b.emitResults()
	b.donate()
	b.placeArena()
}

func storageBytes(v *Value) int { return v.buf.Storage.Size() }

func (b *builder) slot(s Slot) int {
	b.program.Slots = append(b.program.Slots, s)
	return len(b.program.Slots) - 1
}

func (b *builder) operand(in operandSource, d DType) Operand {
	o := Operand{DType: d, Layout: in.layout}
	if in.node != nil {
		o.Slot = in.node.slot
	} else {
		o.Slot = b.plan.externals[in.external]
	}
	b.last[o.Slot] = len(b.program.Steps)
	return o
}

// result allocates a slot for a node.
func (b *builder) result(n *planned) Operand {
	bytes := n.node.Len() * n.store.Size()
	if op, ok := n.node.op.(Attention); ok {
		bytes = op.storedBytes(n.node.in, n.node.dtype, n.store)
	}
	n.slot = b.slot(Slot{Kind: Arena, Bytes: bytes})
	b.first[n.slot] = len(b.program.Steps)
	b.last[n.slot] = len(b.program.Steps)
	return Operand{Slot: n.slot, DType: n.store, Layout: n.layout}
}

func (b *builder) emit(g *group) {
	n := g.members[0]
	if g.norm != nil {
		b.emitNorm(g)
		return
	}
	if n.class == Elementwise {
		b.program.Steps = append(b.program.Steps, b.loop(g))
		return
	}
	loss, gradient := g.lossOf()
	product := g.product()
	switch {
	case loss != nil:
		n = gradient
	case product != nil:
		n = product
	}
	in := make([]Operand, len(n.inputs))
	_, any := n.node.op.(strided)
	if _, copies := n.node.op.(viewer); copies {
		any = true
	}
	free := 0 // number of inputs that may have any layout
	if op, ok := n.node.op.(partlyStrided); ok && n.node.dtype == Float32 {
		free = op.stridedInputs()
	}
	images := 0 // number of inputs that have the channels last in memory
	reorder, _ := n.node.op.(reordered)
	if op, ok := n.node.op.(imageOp); ok && n.last {
		images = op.images()
	} else if n.last || n.pixels {
		images = len(n.inputs)
	}
	multiplies, _ := n.node.op.(contracting)
	for i, s := range n.inputs {
		if n.dtype(i).IsFP8() {
			in[i] = b.packedOperand(s)
			continue
		}
		in[i] = b.operand(s, n.dtype(i))
		switch {
		case i < images:
			if !s.layout.hasChannelsLast() {
				in[i] = b.copied(in[i], withChannelsLast(s.layout.Shape), n.node.index)
			}
		case !any && i >= free && !s.layout.Contiguous(), multiplies != nil && s.layout.repeatsRow(multiplies.contracted(i, len(s.layout.Shape))):
			in[i] = b.copied(in[i], RowMajor(s.layout.Shape), n.node.index)
		}
	}
	for _, o := range in { // a copy above may have incremented the step's index
		b.last[o.Slot] = len(b.program.Steps)
	}
	step := Step{Op: n.node.op, In: in, Word: n.word, Nodes: []int{n.node.index}}
	if n.pixels {
		step.Op, in[0].Layout = Sum{From: 0, To: 1}, in[0].pixels()
	}
	out := n
	for _, m := range g.members {
		if m.absorbed == n {
			out = m
			step.Nodes = append(step.Nodes, m.node.index)
			step.Epilogue = m.node.op
		}
	}
	if n.slope != nil {
		x := b.operand(n.slope.inputs[1], n.slope.dtype(1))
		x.Layout = Layout{Shape: n.node.shape, Stride: Strides(n.node.shape), Offset: x.Offset}
		step.In = append(step.In, x)
	}
	if _, rounds := n.node.op.(Round8); rounds {
		step.Out = b.packed(n)
	} else {
		step.Out = []Operand{b.result(out)}
		step.Out[0].Layout = n.layout // out may have another shape
	}
	if n.last && reorder != nil {
		perm := channelsLast(len(in[0].Shape))
		step.Op, _ = reorder.inOrder(perm)
		for i := range in {
			in[i].Layout = in[i].permuted(perm)
		}
		if o := &step.Out[0]; len(o.Shape) == len(perm) {
			o.Layout = o.permuted(perm)
		}
	}
	if out != n && (n.kept || n.outlives || slices.ContainsFunc(n.users, func(u *planned) bool { return u != out })) {
		step.Out = append(step.Out, b.result(n))
		step.Keeps = true
	}
	if loss != nil {
		step.Nodes = append(step.Nodes, loss.node.index)
		step.Out = append(step.Out, b.result(loss))
	}
	if product != nil {
		step.Nodes = append(step.Nodes, product.sum.node.index)
		step.Out = append(step.Out, b.result(product.sum))
		step.Summed = product.factor
	}
	b.program.Steps = append(b.program.Steps, step)
}

// copied returns a copy of an operand, which is in memory as another layout says. It emits the copy, for the
// node that is the first to read it.
func (b *builder) copied(in Operand, as Layout, user int) Operand {
	id := string(appendInts(appendInts(appendInts(appendInts([]byte{byte(in.DType)}, in.Slot, in.Offset), in.Shape...), in.Stride...), as.Stride...))
	if s, ok := b.copies[id]; ok {
		return Operand{Slot: s, DType: in.DType, Layout: as}
	}
	s := b.slot(Slot{Kind: Arena, Bytes: Len(in.Shape) * in.DType.Size()})
	from, to := in, Operand{Slot: s, DType: in.DType, Layout: as.inOrderOf(as)}
	from.Layout = in.inOrderOf(as)
	b.first[s], b.copies[id] = len(b.program.Steps), s
	b.program.Steps = append(b.program.Steps, Step{Op: Copy{}, In: []Operand{from}, Out: []Operand{to}, Nodes: []int{user}})
	return Operand{Slot: s, DType: in.DType, Layout: as}
}

// loop returns the step for a group of elementwise nodes.
func (b *builder) loop(g *group) Step {
	step := Step{Shape: g.members[0].node.shape}
	inputs := map[string]int{} // operand → input index
	where := map[*planned]int{}
	args := make([][]int, len(g.members)) // of each: an input of the step, or ^i for the result of member i
	for i, n := range g.members {
		for k, s := range n.inputs {
			if j, ok := where[s.node]; ok && s.node != nil && !s.viewed && sameShape(s.layout.Shape, step.Shape) {
				args[i] = append(args[i], ^j)
				continue
			}
			o := b.operand(s, n.dtype(k))
			o.Layout = o.BroadcastTo(step.Shape)
			id := string(appendInts(appendInts([]byte{byte(o.DType)}, o.Slot, o.Offset), o.Stride...))
			j, ok := inputs[id]
			if !ok {
				j = len(step.In)
				inputs[id] = j
				step.In = append(step.In, o)
			}
			args[i] = append(args[i], j)
		}
		where[n] = i
	}
	for i, n := range g.members {
		instr := Instr{Op: n.node.op, Word: n.word, Out: -1}
		for _, a := range args[i] {
			if a < 0 {
				a = len(step.In) + ^a
			}
			instr.Args = append(instr.Args, a)
		}
		if n.kept || usedOutside(n, g) {
			instr.Out = len(step.Out)
			step.Out = append(step.Out, b.result(n))
		}
		step.Loop = append(step.Loop, instr)
		step.Nodes = append(step.Nodes, n.node.index)
	}
	as := g.members[0].layout
	step.Shape = as.inOrderOf(as).Shape
	for _, operands := range [][]Operand{step.In, step.Out} {
		for i := range operands {
			operands[i].Layout = operands[i].inOrderOf(as)
		}
	}
	return step
}

func usedOutside(n *planned, g *group) bool {
	for _, u := range n.users {
		if u.class == View || u.group.root() != g {
			return true
		}
		for _, s := range u.inputs {
			if s.node == n && (s.viewed || !sameShape(u.node.shape, n.node.shape)) {
				return true
			}
		}
	}
	return false
}

// emitResults lists the nodes that outlive the list.
func (b *builder) emitResults() {
	count := map[int]int{}
	for i, n := range b.planner.nodes {
		if !n.kept {
			continue
		}
		r := result{node: i, slot: n.slot, external: -1, layout: n.layout}
		if n.class == View {
			if n.base != nil {
				r.slot = n.base.slot
			} else {
				r.external = n.external
			}
		}
		if r.slot >= 0 {
			count[r.slot]++
			if s := &b.program.Slots[r.slot]; s.Kind == Arena {
				s.Kind = Output
				b.outputs = append(b.outputs, output{r.slot, s.Bytes})
			}
		}
		b.results = append(b.results, r)
	}
	for i := range b.results {
		r := &b.results[i]
		r.alone = r.slot >= 0 && count[r.slot] == 1
	}
}
