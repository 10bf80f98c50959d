package ptxsim

import "math/bits"

var asyncOperations = map[string]func(*operation) step{"cp": compileCp, "mbarrier": compileMbarrier}

// async is the cp.async copies of a warp's lanes that have not been waited for. Their bytes
// arrive in shared memory as late as possible: when their thread waits for them.
type async struct {
	pending []asyncCopy
	groups  [warpSize]int // number of groups that each lane has committed
}

type asyncCopy struct {
	lane  int
	group int // index of the lane's group, from 0
	at    int
	data  []byte
}

func (a *async) reset() { *a = async{pending: a.pending[:0]} }

func compileCp(o *operation) step {
	o.need("async")
	switch {
	case o.has("commit_group"):
		return o.commitGroup()
	case o.has("wait_group"):
		return o.waitGroup(false)
	case o.has("wait_all"):
		return o.waitGroup(true)
	case o.has("bulk"):
		return o.compileBulk()
	}
	whole := o.need("ca", "cg") == "cg"
	o.need("shared", "shared::cta")
	o.need("global")
	policy := o.has("L2::cache_hint")
	o.take("L2::64B", "L2::128B", "L2::256B")
	n := len(o.args)
	if policy {
		n--
	}
	o.end(3, 4, 5)
	if n < 3 || n > 4 {
		panic(o.failure("%d operands are not supported", len(o.args)))
	}
	size := int(o.args[2].bits)
	if o.args[2].kind != operandInteger || !(size == 16 || !whole && (size == 4 || size == 8)) {
		panic(o.failure("cp.async does not support copies of %d bytes", size))
	}
	to, from := access{space: "shared"}, access{space: "global"}
	o.address(&o.args[0], &to)
	o.address(&o.args[1], &from)
	word := valueTypes["b32"]
	bytes := o.b.constant(uint64(size))
	ignore, not := -1, false
	if n == 4 {
		if s := o.b.lookup(o.args[3].name); o.args[3].kind == operandNot || s != nil && s.typ.class == predicate {
			ignore, not = o.predicate(3)
		} else {
			bytes = o.source(3, word)
		}
	}
	return func(w *warp, mask uint32) {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			n := int(uint32(w.r[bytes][i]))
			if n > size {
				panic(w.fault(Trapped, i, "%d bytes to copy, but the size is %d", n, size))
			}
			if ignore >= 0 && flip(w.p[ignore], not)>>i&1 == 1 {
				n = 0
			}
			data := make([]byte, size)
			if address := w.r[from.base][i] + from.offset; n > 0 {
				r, at := w.global(i, address, n, 1, &w.sites[from.site])
				if address%uint64(size) != 0 {
					panic(w.accessFault(Misaligned, i, "global", address, size, "not a multiple of %d", size))
				}
				w.unwritten(i, r, at, n)
				w.touch(i, r, at, n, reads)
				copy(data, r.data[at:at+n])
			}
			at := w.sharedSpan(i, w.r[to.base][i]+to.offset, size, size)
			w.claimInFlight(i, at, data)
			w.async.pending = append(w.async.pending, asyncCopy{i, w.async.groups[i], at, data})
		}
	}
}

// claimInFlight records a write that has not happened yet.
func (w *warp) claimInFlight(lane, at int, data []byte) {
	for i := at; i < at+len(data); i += 4 {
		c := &w.block.cells[i>>2]
		if c.write&flagSplit != 0 && c.write >= w.block.fresh {
			for j := range 4 {
				w.writeCell(&w.block.split(c)[j], lane, at, len(data), flagInFlight, false)
			}
			continue
		}
		w.writeCell(c, lane, at, len(data), flagInFlight, false)
	}
}

func (o *operation) commitGroup() step {
	o.end(0)
	return func(w *warp, mask uint32) {
		for ; mask != 0; mask &= mask - 1 {
			w.async.groups[bits.TrailingZeros32(mask)]++
		}
	}
}

// waitGroup compiles the wait for all groups but the newest n, or for all
// copies.
func (o *operation) waitGroup(all bool) step {
	n := 0
	if all {
		o.end(0)
	} else {
		n = o.groups(1 << 20)
	}
	return func(w *warp, mask uint32) {
		left := w.async.pending[:0]
		for i := range w.async.pending {
			c := &w.async.pending[i]
			if mask>>c.lane&1 == 1 && (all || c.group < w.async.groups[c.lane]-n) {
				w.block.arrived(c.at, c.data, w.record(c.lane))
			} else {
				left = append(left, *c)
			}
		}
		w.async.pending = left
	}
}
