package ptxsim

import "math/bits"

var warpOperations = map[string]func(*operation) step{
	"shfl": compileShfl, "vote": compileVote, "match": compileMatch, "activemask": compileActiveMask,
	"redux": compileRedux, "elect": compileElect,
}

func compileShfl(o *operation) step {
	o.need("sync")
	mode := o.need("up", "down", "bfly", "idx")
	t := o.typ("b32")
	o.end(5)
	d, p := o.registerAndPredicate(t)
	a, b, c, members := o.source(1, t), o.source(2, t), o.source(3, t), o.source(4, t)
	return byMembers(members, func(w *warp, mask uint32) {
		source := w.r[a]
		var valid uint32
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			j, ok := shuffleSource(mode, i, int(w.r[b][i]&31), int(w.r[c][i]))
			if ok {
				valid |= 1 << i
			} else {
				j = i
			}
			if mask>>j&1 == 0 {
				panic(w.fault(InactiveLane, i, "lane %d is read, which does not take part", j))
			}
			w.r[d][i] = source[j]
		}
		if p >= 0 {
			w.set(p, mask, valid)
		}
	})
}

// registerAndPredicate returns the destinations of d|p, or of d alone, whose predicate is -1.
func (o *operation) registerAndPredicate(t valueType) (d, p int) {
	first, p := o.args[0], -1
	if first.kind == operandPair {
		p = o.predicateDestination(&first.items[1])
		first = first.items[0]
	}
	d, _ = o.destinationOf(&first, t, false)
	return d, p
}

// shuffleSource returns the lane to read from, as in the manual.
func shuffleSource(mode string, lane, b, c int) (source int, ok bool) {
	segment := c >> 8 & 31
	limit := lane&segment | c&31&^segment
	switch mode {
	case "up":
		source = lane - b
		return source, source >= limit
	case "down":
		source = lane + b
	case "bfly":
		source = lane ^ b
	case "idx":
		source = lane&segment | b&^segment
	}
	return source, source <= limit
}

func compileVote(o *operation) step {
	o.need("sync")
	mode := o.need("all", "any", "uni", "ballot")
	if mode == "ballot" {
		o.typ("b32")
	} else {
		o.typ("pred")
	}
	o.end(3)
	d := 0
	if mode == "ballot" {
		d = o.destination(valueTypes["b32"])
	} else {
		d = o.predicateDestination(&o.args[0])
	}
	p, not := o.predicate(1)
	members := o.source(2, valueTypes["b32"])
	return byMembers(members, func(w *warp, mask uint32) {
		votes := flip(w.p[p], not) & mask
		var yes bool
		switch mode {
		case "ballot":
			w.broadcast(d, mask, uint64(votes))
			return
		case "all":
			yes = votes == mask
		case "any":
			yes = votes != 0
		case "uni":
			yes = votes == mask || votes == 0
		}
		if votes = 0; yes {
			votes = mask
		}
		w.set(d, mask, votes)
	})
}

func compileMatch(o *operation) step {
	mode := o.need("any", "all")
	o.need("sync")
	t := o.typ("b32", "b64")
	o.end(3)
	word := valueTypes["b32"]
	d, p := o.registerAndPredicate(word)
	a, members := o.source(1, t), o.source(2, word)
	return byMembers(members, func(w *warp, mask uint32) {
		v := w.r[a]
		same := func(i int) (group uint32) {
			for m := mask; m != 0; m &= m - 1 {
				if j := bits.TrailingZeros32(m); v[j] == v[i] {
					group |= 1 << j
				}
			}
			return group
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			group := same(i)
			if mode == "all" && group != mask {
				group = 0
			}
			w.r[d][i] = uint64(group)
			if p >= 0 {
				w.p[p] &^= 1 << i
				if group == mask {
					w.p[p] |= 1 << i
				}
			}
		}
	})
}

func compileActiveMask(o *operation) step {
	t := o.typ("b32")
	o.end(1)
	d := o.destination(t)
	return func(w *warp, mask uint32) { w.broadcast(d, mask, uint64(mask)) }
}

func compileRedux(o *operation) step {
	o.need("sync")
	name := o.need("add", "min", "max", "and", "or", "xor")
	t := o.typ("u32", "s32", "b32")
	o.end(3)
	d, a, members := o.destination(t), o.source(1, t), o.source(2, t)
	if bitwise := name == "and" || name == "or" || name == "xor"; bitwise != (t.class == untyped) {
		panic(o.failure("redux.%s does not support .%s", name, t.name))
	}
	f := o.change(name, t)
	return byMembers(members, func(w *warp, mask uint32) {
		first := bits.TrailingZeros32(mask)
		v := w.r[a][first]
		for m := mask & (mask - 1); m != 0; m &= m - 1 {
			v = f(v, w.r[a][bits.TrailingZeros32(m)], 0)
		}
		w.broadcast(d, mask, v)
	})
}

// compileElect compiles the election of one lane.
func compileElect(o *operation) step {
	o.need("sync")
	o.end(2)
	if o.args[0].kind != operandPair {
		panic(o.failure("elect needs a register and a predicate as destinations"))
	}
	word := valueTypes["b32"]
	d, p := o.registerAndPredicate(word)
	members := o.source(1, word)
	return byMembers(members, func(w *warp, mask uint32) {
		leader := bits.TrailingZeros32(mask)
		w.broadcast(d, mask, uint64(leader))
		w.set(p, mask, 1<<leader)
	})
}
