package ir

// plan is a compiled list together with how to bind it to a new list of the
// same structure.
type plan struct {
	exec    Executable
	program *Program
	// slots of the externals and outputs, in list order
	externals []int // slot of external i
	outputs   []output
	donated   []donation
	results   []result
}

// output is a slot that needs storage when the plan runs.
type output struct {
	slot  int
	bytes int
}

// donation writes an output over an external that nobody reads afterwards.
type donation struct {
	slot     int // of the output
	external int
	step     int // that writes the output
}

// result is a node that outlives the list and where it lies.
type result struct {
	node     int
	slot     int // -1 for a view of an external
	external int
	layout   Layout
	alone    bool // no other result lies in the slot
}

// planner turns one recorded list into a program.
type planner struct {
	nodes     []*planned
	externals []*Value
	assigns   []assignment
	canDonate func(assignment) bool
	kept      func(*Value) bool
	fuse      bool
}

func (p *planner) plan(list []*Value, externals []*Value) (*plan, error) {
	p.externals = externals
	p.resolve(list)
	p.mark()
	p.absorb()
	var live []*planned
	for _, n := range p.nodes {
		if n.live && n.class != View {
			live = append(live, n)
		}
	}
	f := &fuser{maxLoop: 64}
	if !p.fuse {
		f.maxLoop = 1
	}
	groups := f.run(live)
	b := &builder{planner: p, plan: &plan{program: &Program{}}, last: map[int]int{}, first: map[int]int{}}
	b.build(groups)
	if err := Verify(b.program); err != nil {
		return nil, err
	}
	return b.plan, nil
}

// resolve finds for each node's inputs the producer behind any views, and
// turns views that need a copy into copies.
func (p *planner) resolve(list []*Value) {
	word := 0
	p.nodes = make([]*planned, len(list))
	for i, v := range list {
		n := &planned{node: v, word: word, slot: -1, external: -1, class: v.op.Class(v.in), kept: p.kept(v)}
		if d, ok := v.op.(Dynamic); ok {
			word += len(d.AppendWords(nil))
		}
		for _, x := range v.in {
			n.inputs = append(n.inputs, p.source(x))
		}
		if n.class == View {
			in := n.inputs[0]
			if l, ok := v.op.(viewer).view(in.layout); ok {
				n.base, n.external, n.layout = in.node, in.external, l
			} else {
				n.class = Whole
			}
		}
		if n.class != View {
			n.layout = RowMajor(v.shape)
		}
		p.nodes[i] = n
	}
}

func (p *planner) source(x *Value) operandSource {
	if x.index < 0 {
		return operandSource{external: ^x.index, layout: x.layout}
	}
	n := p.nodes[x.index]
	if n.class == View {
		return operandSource{node: n.base, external: n.external, layout: n.layout, viewed: true}
	}
	return operandSource{node: n, external: -1, layout: n.layout}
}

// mark finds the nodes that a kept value needs.
func (p *planner) mark() {
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := p.nodes[i]
		n.live = n.live || n.kept
		if !n.live {
			continue
		}
		if n.class == View {
			if n.base != nil {
				n.base.live = true
			}
			continue
		}
		for _, in := range n.inputs {
			if in.node != nil {
				in.node.live = true
				in.node.users = append(in.node.users, n)
			}
		}
	}
	// a kept view needs its base in memory
	for _, n := range p.nodes {
		if n.class == View && n.kept && n.base != nil {
			n.base.users = append(n.base.users, n)
		}
	}
}

// absorber is a matrix product that can apply an activation to its result.
type absorber interface{ absorbs(activation Op) bool }

func (p *planner) absorb() {
	if !p.fuse {
		return
	}
	for _, n := range p.nodes {
		if !n.live || n.class != Elementwise || len(n.inputs) != 1 {
			continue
		}
		in := n.inputs[0]
		if in.node == nil || in.viewed || in.node.kept || len(in.node.users) != 1 {
			continue
		}
		if a, ok := in.node.node.op.(absorber); ok && in.node.class == Whole && a.absorbs(n.node.op) {
			n.absorbed = in.node
		}
	}
}

// builder assigns slots and emits steps.
type builder struct {
	*planner
	*plan
	first, last map[int]int // step that writes, and last that reads, each slot
	keptSlots   map[int]bool
}

func (b *builder) build(groups []*group) {
	for _, x := range b.planner.externals {
		b.plan.externals = append(b.plan.externals, b.slot(Slot{Kind: External, Bytes: storageBytes(x)}))
	}
	b.keptSlots = map[int]bool{}
	for _, g := range groups {
		b.emit(g)
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

// result gives a node a slot of its own.
func (b *builder) result(n *planned) Operand {
	n.slot = b.slot(Slot{Kind: Arena, Bytes: n.node.Len() * n.node.dtype.Size()})
	b.first[n.slot] = len(b.program.Steps)
	b.last[n.slot] = len(b.program.Steps)
	return Operand{Slot: n.slot, DType: n.node.dtype, Layout: RowMajor(n.node.shape)}
}

func (b *builder) emit(g *group) {
	n := g.members[0]
	if n.class == Elementwise {
		b.emitLoop(g)
		return
	}
	in := make([]Operand, len(n.inputs))
	_, any := n.node.op.(strided)
	if _, copies := n.node.op.(viewer); copies {
		any = true
	}
	for i, s := range n.inputs {
		if !any && !s.layout.Contiguous() {
			in[i] = b.contiguous(b.operand(s, n.node.in[i].dtype))
		} else {
			in[i] = b.operand(s, n.node.in[i].dtype)
		}
	}
	for _, o := range in { // a copy above may have moved the step's number on
		b.last[o.Slot] = len(b.program.Steps)
	}
	step := Step{Op: n.node.op, In: in, Word: n.word}
	out := n
	if len(g.members) == 2 {
		out = g.members[1]
		step.Epilogue = out.node.op
	}
	step.Out = []Operand{b.result(out)}
	b.program.Steps = append(b.program.Steps, step)
}

// contiguous emits a copy of an operand in row-major order.
func (b *builder) contiguous(in Operand) Operand {
	s := b.slot(Slot{Kind: Arena, Bytes: Len(in.Shape) * in.DType.Size()})
	out := Operand{Slot: s, DType: in.DType, Layout: RowMajor(in.Shape)}
	b.first[s] = len(b.program.Steps)
	b.program.Steps = append(b.program.Steps, Step{Op: Copy{}, In: []Operand{in}, Out: []Operand{out}})
	return out
}

// emitLoop makes one step of a group of elementwise nodes.
func (b *builder) emitLoop(g *group) {
	step := Step{Shape: g.members[0].node.shape}
	inputs := map[string]int{} // operand → input number
	where := map[*planned]int{}
	type ref struct{ input, instr int }
	args := make([][]ref, len(g.members))
	for i, n := range g.members {
		for k, s := range n.inputs {
			if j, ok := where[s.node]; ok && s.node != nil && !s.viewed && sameShape(s.layout.Shape, step.Shape) {
				args[i] = append(args[i], ref{-1, j})
				continue
			}
			o := b.operand(s, n.node.in[k].dtype)
			o.Layout = o.BroadcastTo(step.Shape)
			id := string(appendInts(appendInts([]byte{byte(o.DType)}, o.Slot, o.Offset), o.Stride...))
			j, ok := inputs[id]
			if !ok {
				j = len(step.In)
				inputs[id] = j
				step.In = append(step.In, o)
			}
			args[i] = append(args[i], ref{j, -1})
		}
		where[n] = i
	}
	for i, n := range g.members {
		instr := Instr{Op: n.node.op, Word: n.word, Out: -1}
		for _, a := range args[i] {
			if a.input >= 0 {
				instr.Args = append(instr.Args, a.input)
			} else {
				instr.Args = append(instr.Args, len(step.In)+a.instr)
			}
		}
		if n.kept || b.usedOutside(n, g) {
			instr.Out = len(step.Out)
			step.Out = append(step.Out, b.result(n))
		}
		step.Loop = append(step.Loop, instr)
	}
	b.program.Steps = append(b.program.Steps, step)
}

func (b *builder) usedOutside(n *planned, g *group) bool {
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

// donate lets an assignment's new value overwrite the old one where the step
// that writes it is the last to read the old one, element by element.
func (b *builder) donate() {
	for _, a := range b.assigns {
		if a.new.index < 0 || a.new.epoch != a.old.epoch || !b.canDonate(a) {
			continue
		}
		n := b.planner.nodes[a.new.index]
		if n.class == View && n.base != nil && n.layout.Contiguous() && n.layout.Offset == 0 {
			n = n.base
		}
		if n.slot < 0 || b.program.Slots[n.slot].Kind != Output {
			continue
		}
		ext := ^a.old.index
		slot := b.plan.externals[ext]
		at := b.first[n.slot]
		if last, read := b.last[slot]; read && last > at {
			continue
		} else if read && last == at && !elementwiseUse(b.program.Steps[at], slot) {
			continue
		}
		taken := false
		for _, r := range b.results { // a view that outlives the list
			taken = taken || r.external == ext
		}
		for _, d := range b.donated {
			taken = taken || d.slot == n.slot || d.external == ext
		}
		if !taken && b.program.Slots[slot].Bytes >= b.program.Slots[n.slot].Bytes {
			b.donated = append(b.donated, donation{n.slot, ext, at})
		}
	}
}

// elementwiseUse tells whether a step reads a slot only at the element that it
// writes.
func elementwiseUse(s Step, slot int) bool {
	if s.Op != nil {
		return false
	}
	for _, in := range s.In {
		if in.Slot == slot && (in.Offset != 0 || !in.Contiguous()) {
			return false
		}
	}
	return true
}

// align keeps temporaries on cache lines of their own.
const align = 64

// placeArena gives each temporary the lowest place that is free during its
// life.
func (b *builder) placeArena() {
	type span struct{ slot, from, to, first, last int }
	var placed []span
	for i := range b.program.Slots {
		s := &b.program.Slots[i]
		if s.Kind != Arena {
			continue
		}
		size := (s.Bytes + align - 1) / align * align
		at := 0
		for moved := true; moved; {
			moved = false
			for _, p := range placed {
				if p.first <= b.last[i] && b.first[i] <= p.last && at < p.to && p.from < at+size {
					at, moved = p.to, true
				}
			}
		}
		s.Offset = at
		placed = append(placed, span{i, at, at + size, b.first[i], b.last[i]})
		b.program.Arena = max(b.program.Arena, at+size)
	}
}
