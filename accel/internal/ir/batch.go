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

// Part is one fused kernel of a batch. Its inputs and outputs are as many of the step's as those
// of any other part, and are in the order of the parts.
type Part struct {
	Shape []int
	Word  int // what is added to the dynamic words of the ops
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
	for i, n := range g.members {
		id = append(append(n.node.op.AppendKey(append(id, n.node.op.Name()...)), byte(n.store)), 0)
		if _, ok := n.node.op.(Dynamic); ok {
			id = appendInts(id, n.word-g.firstWord())
		}
		for k, s := range n.inputs {
			if j, ok := inside[s.node]; ok && s.node != nil && !s.viewed && sameShape(s.layout.Shape, first.node.shape) {
				id = appendInts(id, j)
				continue
			}
			before = before && s.node == nil
			l := s.layout.BroadcastTo(first.node.shape).inOrderOf(first.layout)
			access := byte('c')
			switch {
			case !slices.ContainsFunc(l.Squeeze().Stride, func(stride int) bool { return stride != 0 }):
				access = 'b'
			case !l.Contiguous() || l.Offset%batchAlign != 0 || n.dtype(k) != Float32 && !n.dtype(k).Is16Bit():
				return ""
			}
			at := place{s.node, string(appendInts(appendInts([]byte{access}, s.external, l.Offset), l.Stride...))}
			j, ok := inputs[at]
			if !ok {
				j = len(inputs)
				inputs[at] = j
			}
			id = appendInts(append(id, access, byte(n.dtype(k))), ^j)
		}
		inside[n] = i
		stored := n.kept || usedOutside(n, g)
		after = after && (n.kept || n.outlives || !stored)
		id = appendFlag(id, stored)
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

// inBatches returns the steps. A group that may be part of a batch waits until no other is ready;
// then those of the batch that is needed first run, all that are ready.
func (f *fuser) inBatches(kind func(*group) string) [][]*group {
	waiting, succs, ready := f.dependencies()
	pending := map[string][]*group{}
	need := map[*group]int{} // when the first group that reads its results was recorded
	var out [][]*group
	add := func(g *group) {
		if id := kind(g); id != "" {
			first := math.MaxInt
			for _, s := range succs[g] {
				first = min(first, s.last())
			}
			need[g] = first
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
		if len(ready) > 0 {
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
	for i, g := range groups {
		s := b.loop(g)
		if i == 0 {
			all = s
		} else {
			all.In, all.Out, all.Nodes = append(all.In, s.In...), append(all.Out, s.Out...), append(all.Nodes, s.Nodes...)
		}
		all.Parts = append(all.Parts, Part{Shape: s.Shape, Word: g.firstWord() - groups[0].firstWord()})
	}
	b.program.Steps = append(b.program.Steps, all)
}

// Part returns part i of a batch as a step of its own, and the step itself if it is no batch.
func (s Step) Part(i int) Step {
	if len(s.Parts) == 0 {
		return s
	}
	in, out := len(s.In)/len(s.Parts), len(s.Out)/len(s.Parts)
	one := s
	one.Shape, one.In, one.Out, one.Parts = s.Parts[i].Shape, s.In[i*in:(i+1)*in], s.Out[i*out:(i+1)*out], nil
	one.Loop = slices.Clone(s.Loop)
	for k := range one.Loop {
		one.Loop[k].Word += s.Parts[i].Word
	}
	return one
}
