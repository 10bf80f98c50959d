package ir

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/trace"
)

// plan is a compiled list, and how to bind it to a new list of the same structure.
type plan struct {
	exec      Executable // nil until the plan runs
	program   *Program
	described *trace.Program // nil until a profile needs it
	// slots of the externals and outputs, in list order
	externals []int // slot of external i
	outputs   []output
	donated   []donation
	results   []result
	words     []uint64 // dynamic words of compositions, which follow those of the list

	bytes int  // of newBytes
	ran   bool // whether it ran at least once
}

// newBytes returns the size of the values that the plan creates, except those that
// overwrite others.
func (p *plan) newBytes() (bytes int) {
	for _, o := range p.outputs {
		if !slices.ContainsFunc(p.donated, func(d donation) bool { return d.slot == o.slot }) {
			bytes += o.bytes
		}
	}
	return bytes
}

// output is a slot that needs storage when the plan runs.
type output struct {
	slot  int
	bytes int
}

// donation writes an output over an external that is no longer read.
type donation struct {
	slot     int // slot of the output
	external int
	step     int // step that writes the output
}

// result is a node that outlives the list, and its location.
type result struct {
	node     int
	slot     int // -1 for a view of an external
	external int
	layout   Layout
	alone    bool // no other result uses the slot
}

// planner compiles a recorded list to a program.
type planner struct {
	nodes       []*planned
	order       []*planned // the nodes, and before each the casts of its inputs
	roundedOnce map[roundedSource]operandSource
	madeWords   []uint64 // dynamic words of compositions
	externals   []*Value
	assigns     []assignment
	canDonate   func(assignment) bool
	kept        func(*Value) bool
	made        []made // of the nodes; nil if there is no composition
	words       int    // dynamic words of the list
	fuse        bool
	float16     Float16Multiplier // nil if the device only multiplies float32
	reader      Float16Reader     // nil if other ops read float32 only
	lasts       ChannelsLast      // nil if images are in row-major order always
	fp8         FP8Multiplier     // nil if the device does not multiply FP8
	fusedRounds bool              // fused kernels round to 16 bits
	batches     bool              // the device runs batches
	norms       bool              // the device computes what is around norms
	losses      bool              // the device computes losses with their gradients
	roundsApart bool              // updates of parameters do not round them; see errRounded
	sloper      Sloper            // nil if matrix multiplications do not multiply with slopes
	summer      FactorSummer      // nil if they do not sum their factors
}

func (p *planner) plan(list []*Value, externals []*Value) (*plan, error) {
	p.externals = externals
	p.resolve(list)
	p.mark()
	p.absorb()
	var live []*planned
	for _, n := range p.order {
		if n.live && n.class != View {
			live = append(live, n)
		}
	}
	f := &fuser{maxLoop: 64, norms: p.norms && p.fuse, losses: p.losses && p.fuse, roundsApart: p.roundsApart, gradients: map[[2]*Value]*planned{}}
	if p.fuse {
		f.summer, f.products, f.sums = p.summer, map[summed][]*planned{}, map[summed][]*planned{}
	}
	if !p.fuse {
		f.maxLoop = 1
	}
	kind := p.batchable
	if !p.batches || !p.fuse {
		kind = func(*group) string { return "" }
	}
	groups := f.run(live, kind)
	b := &builder{planner: p, plan: &plan{program: &Program{}, words: p.madeWords}, last: map[int]int{}, first: map[int]int{}, copies: map[string]int{}}
	b.build(groups)
	if err := Verify(b.program); err != nil {
		return nil, err
	}
	if !p.roundsApart && b.losesRounding() {
		return nil, errRounded
	}
	b.bytes = b.newBytes()
	return b.plan, nil
}

// resolve finds the producer of each input behind any views, and replaces views that need a
// copy by copies.
func (p *planner) resolve(list []*Value) {
	word := 0
	p.nodes = make([]*planned, len(list))
	rounded := p.onlyRounded(list)
	if rounded == nil {
		p.lasts = nil
	}
	orders := p.orders(list)
	p.roundedOnce = map[roundedSource]operandSource{}
	for i, v := range list {
		how := recorded
		if p.made != nil {
			how = p.made[i]
		}
		n := &planned{node: v, word: word, slot: -1, external: -1, class: v.op.Class(v.in), kept: how == recorded && p.kept(v), store: v.dtype}
		if p.rounds(v) {
			n.class = Elementwise
		}
		switch d, ok := v.op.(Dynamic); {
		case ok && how == composed:
			n.word = p.words + len(p.madeWords)
			p.madeWords = d.AppendWords(p.madeWords)
		case ok:
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
			p.arrange(n, orders[i])
		}
		p.nodes[i] = n
		if rounded != nil {
			p.useFloat16(n, rounded[i])
			p.sumPixels(n)
		}
		p.constantLoss(n)
		p.order = append(append(p.order, n.before...), n)
	}
}

func (p *planner) source(x *Value) operandSource {
	if x.index < 0 {
		return operandSource{external: ^x.index, layout: x.layout}
	}
	n := p.nodes[x.index]
	if n.class == View {
		return operandSource{node: n.base, external: n.external, layout: n.layout, viewed: !n.aliased}
	}
	return operandSource{node: n, external: -1, layout: n.layout}
}

// mark finds the nodes that a kept value depends on.
func (p *planner) mark() {
	for i := len(p.order) - 1; i >= 0; i-- {
		n := p.order[i]
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
			n.base.outlives = true
		}
	}
}

// reshaped reports whether an input is its producer's whole result, as it lies in memory, in any shape.
func (s operandSource) reshaped() bool {
	whole := s.layout.Offset == 0 && Len(s.layout.Shape) == Len(s.node.node.shape)
	return whole && (s.layout.Contiguous() && s.node.layout.Contiguous() || s.layout.ChannelsLast() && s.node.layout.ChannelsLast())
}

// absorb finds activations that a step applies to its result, and slopes with which it multiplies it.
func (p *planner) absorb() {
	if !p.fuse {
		return
	}
	for _, n := range p.nodes {
		if !n.live || n.class != Elementwise {
			continue
		}
		if len(n.inputs) != 1 {
			p.absorbSlope(n)
			continue
		}
		if p.absorbActivation(n) {
			continue
		}
		in := n.inputs[0]
		// What is rounded before the activation would not be rounded in the matmul.
		if in.node == nil || in.viewed && !in.reshaped() || !in.layout.liesAs(n.layout) || in.node.kept || len(in.node.users) != 1 || in.node.store != n.store {
			continue
		}
		if in.node.class == Whole && isReLU(n.node.op) {
			switch in.node.node.op.(type) {
			case Linear, MatMul, Conv2D, BatchNorm:
				n.absorbed = in.node
			}
		}
	}
}
