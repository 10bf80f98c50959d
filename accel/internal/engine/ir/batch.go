package ir

import (
	"math"
	"slices"
)

// Batches of fused kernels, before → after:
//
//	p₁ = p₁ - rate·g₁; p₂ = p₂ - rate·g₂; …     one kernel for all parameters
//	a₁ = bfloat16(w₁); a₂ = bfloat16(w₂); …     one kernel for all weights
//
// An optimizer has a fused kernel for each parameter, with the same ops. Most of them take the GPU
// less time than their launch. A batch is a step that computes several of them, each a part
// with a shape, inputs, outputs and dynamic words of its own.

// Batcher is implemented by a device that runs steps with several parts.
type Batcher interface{ RunsBatches() bool }

// Part is one fused kernel of a batch. Its inputs are as many of the step's as those of any other
// part; inputs and outputs are in the order of the parts. An input may be of float32 or of 16 bits,
// in each part. The last ops of the Loop are casts of inputs to float32 and of results to 16 bits,
// which only some of the parts may have.
type Part struct {
	Shape []int
	Word  int   // what is added to the dynamic words of the ops
	Out   []int // for each result of the Loop, the index of the part's among the step's, or -1
}

// inBatch returns the members of a group in the order in which a batch computes them: what all parts
// have in common, then casts that are only stored. direct has the inputs of the casts to
// float32, which the others read instead of the results. A group of casts has all in common.
func (g *group) inBatch() (common, casts []*planned, direct map[*planned]operandSource) {
	direct = map[*planned]operandSource{}
	read := map[*planned]bool{}
	for _, n := range g.members {
		if c, ok := n.node.op.(Cast); ok && c.To == Float32 && (n.inputs[0].node == nil || n.inputs[0].node.group.root() != g) {
			direct[n] = n.inputs[0]
			continue
		}
		for _, s := range n.inputs {
			read[s.node] = true
		}
	}
	for _, n := range g.members {
		c, ok := n.node.op.(Cast)
		switch _, widens := direct[n]; {
		case !widens && (!ok || !c.To.Is16Bit() || read[n]):
			common = append(common, n)
		case n.kept || usedOutside(n, g):
			casts = append(casts, n)
		}
	}
	if len(common) == 0 {
		return g.members, nil, nil
	}
	return common, casts, direct
}

// batchable returns what groups have in common that may be one step, or "". They are those that
// may run earlier or later without more memory: their results outlive the list anyway, or
// their inputs have existed before.
func (p *planner) batchable(g *group) string {
	first := g.members[0]
	if first.class != Elementwise || first.node.Len() == 0 || g.norm != nil {
		return ""
	}
	before, after := true, true // all inputs are older than the list, all results outlive it
	var id []byte
	inside := map[*planned]int{}
	type place struct {
		of     *planned
		layout string
	}
	inputs := map[place]int{}
	common, casts, direct := g.inBatch()
	for i, n := range slices.Concat(common, casts) {
		one := append(append(n.node.op.AppendKey([]byte(n.node.op.Name())), byte(n.store)), 0)
		if _, ok := n.node.op.(Dynamic); ok {
			one = appendInts(one, n.word-g.firstWord())
		}
		for k, s := range n.inputs {
			d := n.dtype(k)
			if from, ok := direct[s.node]; ok {
				d, s = s.node.dtype(0), from
			}
			if j, ok := inside[s.node]; ok && s.node != nil && !s.viewed && sameShape(s.layout.Shape, first.node.shape) {
				one = appendInts(one, j)
				continue
			}
			before = before && s.node == nil
			l := s.layout.BroadcastTo(first.node.shape).inOrderOf(first.layout)
			inOrder := l.Contiguous() && l.Offset%batchAlign == 0 && (d == Float32 || d.Is16Bit())
			access, typ := byte('c'), Float32
			switch {
			case inOrder && sameShape(s.layout.Shape, first.node.shape): // also the only element of a part
			case !slices.ContainsFunc(l.Squeeze().Stride, func(stride int) bool { return stride != 0 }):
				access, typ = 'b', d
			case !inOrder:
				return ""
			}
			at := place{s.node, string(appendInts(appendInts([]byte{access}, s.external, l.Offset), l.Stride...))}
			j, ok := inputs[at]
			if !ok {
				j = len(inputs)
				inputs[at] = j
			}
			one = appendInts(append(one, access, byte(typ)), ^j)
		}
		inside[n] = i
		stored := n.kept || usedOutside(n, g)
		after = after && (n.kept || n.outlives || !stored)
		if n.roundsUpdate() { // a GPU may skip it, see errRounded
			one = append(one, 'r')
		}
		if i < len(common) {
			id = appendFlag(append(id, one...), stored)
		}
	}
	if !before && !after {
		return ""
	}
	return string(id)
}

// firstWord returns the first dynamic word of the group's ops.
func (g *group) firstWord() int {
	for _, n := range g.members {
		if _, ok := n.node.op.(Dynamic); ok {
			return n.word
		}
	}
	return 0
}

// batchAlign is how many elements fused kernels load at once, at most.
const batchAlign = 8

// inBatches returns the steps. A group that may be part of a batch waits until no other is ready that was recorded before one that
// reads its results; then those of the batch that is needed first run, all that are ready. If it waited longer, what is recomputed for
// gradients would run before the first gradient, and be kept in memory.
func (f *fuser) inBatches(kind func(*group) string) [][]*group {
	waiting, succs, ready := f.dependencies()
	pending := map[string][]*group{}
	need := map[*group]int{} // when the first group that reads its results was recorded
	soonest := math.MaxInt   // of those that are pending
	var out [][]*group
	add := func(g *group) {
		if id := kind(g); id != "" {
			first := math.MaxInt
			for _, s := range succs[g] {
				first = min(first, s.last())
			}
			need[g], soonest = first, min(soonest, first)
			pending[id] = append(pending[id], g)
			return
		}
		ready.add(g)
	}
	done := func(g *group) {
		for _, s := range succs[g] {
			if waiting[s]--; waiting[s] == 0 {
				add(s)
			}
		}
	}
	start := ready
	ready = nil
	for _, g := range start {
		add(g)
	}
	for {
		if len(ready) > 0 && (ready[0].last() < soonest || len(pending) == 0) {
			g := ready.next()
			out = append(out, []*group{g})
			done(g)
			continue
		}
		if len(pending) == 0 {
			break
		}
		best, at, last := "", 0, 0
		for id, list := range pending {
			for _, g := range list {
				n, l := need[g], g.last()
				if best == "" || n < at || n == at && (l < last || l == last && id < best) {
					best, at, last = id, n, l
				}
			}
		}
		list := pending[best]
		delete(pending, best)
		soonest = math.MaxInt
		for _, list := range pending {
			for _, g := range list {
				soonest = min(soonest, need[g])
			}
		}
		slices.SortFunc(list, func(a, b *group) int { return a.last() - b.last() })
		out = append(out, list)
		for _, g := range list {
			done(g)
		}
	}
	return out
}

// emitBatch emits the fused kernels of several groups as one step.
func (b *builder) emitBatch(groups []*group) {
	var all Step
	results := map[string]int{} // of the Loop, by the op and what it reads
	for i, g := range groups {
		word := g.firstWord()
		common, casts, direct := g.inBatch()
		g.members = slices.Concat(common, casts)
		for _, n := range g.members {
			types := n.typesOfInputs()
			for k, s := range n.inputs {
				if from, ok := direct[s.node]; ok {
					types[k], n.inputs[k] = s.node.dtype(0), from
				}
			}
		}
		s := b.loop(g)
		part := Part{Shape: s.Shape, Word: word - groups[0].firstWord()}
		if i == 0 {
			all.Shape, all.Loop = s.Shape, slices.Clone(s.Loop[:len(common)])
		}
		part.Out = make([]int, len(results), len(results)+len(s.Out))
		for k := range part.Out {
			part.Out[k] = -1
		}
		for k, x := range s.Loop {
			if x.Out < 0 {
				continue
			}
			id := string(appendInts([]byte{'c'}, k))
			if k >= len(common) {
				id = string(appendInts(x.Op.AppendKey([]byte(x.Op.Name())), x.Args[0]))
			}
			at, ok := results[id]
			if !ok {
				at = len(results)
				results[id], part.Out = at, append(part.Out, 0)
			}
			part.Out[at] = len(all.Out) + x.Out
			if x.Out = at; k < len(common) {
				all.Loop[k].Out = at
			} else if !ok {
				all.Loop = append(all.Loop, x)
			}
		}
		all.In, all.Out, all.Nodes = append(all.In, s.In...), append(all.Out, s.Out...), append(all.Nodes, s.Nodes...)
		all.Parts = append(all.Parts, part)
	}
	for i := range all.Parts {
		for len(all.Parts[i].Out) < len(results) {
			all.Parts[i].Out = append(all.Parts[i].Out, -1)
		}
	}
	b.program.Steps = append(b.program.Steps, all)
}

// Part returns part i of a batch as a step of its own, and the step itself if it is no batch.
func (s Step) Part(i int) Step {
	if len(s.Parts) == 0 {
		return s
	}
	part, in := s.Parts[i], len(s.In)/len(s.Parts)
	one := s
	one.Shape, one.In, one.Out, one.Parts, one.Loop = part.Shape, s.In[i*in:(i+1)*in], nil, nil, nil
	for _, x := range s.Loop {
		if x.Word += part.Word; x.Out >= 0 {
			at := part.Out[x.Out]
			if x.Out = -1; at >= 0 {
				x.Out, one.Out = len(one.Out), append(one.Out, s.Out[at])
			}
		}
		one.Loop = append(one.Loop, x)
	}
	return one
}
