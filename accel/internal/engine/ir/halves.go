package ir

import "slices"

// fits reports whether there is memory for the results and temporaries of a plan, after a
// collection of unreachable values if necessary.
func (r *Recorder) fits(p *plan) bool {
	enough := func() bool {
		return int(r.live.n.Load())+max(r.stats.PlanBytes, p.program.Arena)+p.bytes <= r.memory()
	}
	if enough() {
		return true
	}
	Collect()
	return enough()
}

// flushHalves runs the list as two, of which the second reads results of the first. What only
// the first needs can be freed before the second runs: results that the program has dropped, but
// which it has not released.
func (r *Recorder) flushHalves() {
	r.flushFirstHalf()
	r.Flush()
}

// flushFirstHalf runs the first half of the list, and makes the second one the list.
func (r *Recorder) flushFirstHalf() {
	middle := len(r.nodes) / 2
	first, second := slices.Clone(r.nodes[:middle]), slices.Clone(r.nodes[middle:])
	phases, leaves, released := slices.Clone(r.phases), slices.Clone(r.leaves), slices.Clone(r.released)
	var now, later []assignment
	for _, a := range r.assigns {
		if a.new.epoch == r.epoch && a.new.index >= 0 && a.new.index < middle {
			now = append(now, a)
			released = append(released, a.old)
		} else {
			later = append(later, a)
		}
	}
	var crossing []*Value // read or replaced by the second half, and in memory then
	for _, a := range later {
		crossing = append(crossing, a.old.Hold())
	}
	for _, v := range second {
		for _, x := range v.in {
			if x.index < middle {
				crossing = append(crossing, x.Hold())
			}
		}
	}
	drop := func() {
		for _, x := range crossing {
			x.Drop()
		}
	}
	done := false
	defer func() {
		if !done { // the first half has failed
			drop()
			r.nodes, r.assigns, r.leaves, r.released = second, later, leaves, append(released, crossing...)
			r.abandon()
		}
	}()
	r.restart(first, now, leaves)
	if r.watching {
		r.phases = phases[:middle]
	}
	r.Flush()
	done = true
	drop()
	r.restart(second, later, leaves)
	r.released = append(released, crossing...)
	if r.watching {
		r.phases = phases[middle:]
	}
}

// restart makes a list of ops that were recorded before.
func (r *Recorder) restart(nodes []*Value, assigns []assignment, leaves []*Leaf) {
	r.epoch++
	r.nodes, r.externals, r.assigns, r.leaves, r.released = nil, nil, assigns, slices.Clone(leaves), nil
	r.key, r.words = r.key[:0], r.words[:0]
	for i, v := range nodes {
		r.appendKey(v.op, v, v.in)
		v.epoch, v.index = r.epoch, i
		if d, ok := v.op.(Dynamic); ok {
			r.words = d.AppendWords(r.words)
		}
	}
	r.nodes = nodes
	for _, a := range assigns {
		r.reference(a.old)
	}
}
