package ptxsim

import "math/bits"

const (
	warpSize = 32
	allLanes = ^uint32(0)
)

// lanes is a register: one value per lane, zero above the register's width.
type lanes = [warpSize]uint64

type warpState uint8

const (
	ready   warpState = iota
	waiting           // at a barrier
	ended
)

// path is a set of lanes that execute together until they reconverge with others.
type path struct {
	pc, join int
	mask     uint32
}

// warp is 32 threads that execute in lockstep.
type warp struct {
	block  *block
	index  int
	state  warpState
	live   uint32 // lanes that have not exited
	early  uint32 // lanes that have not waited for the grids that this one depends on
	budget int    // instructions left in this time slice; an instruction may set it to 0
	path          // the lanes that are executing
	stack  []path // the paths that wait for them

	r     []lanes
	p     []uint32  // predicates, one bit per lane
	carry uint32    // carry flag of add.cc and similar instructions
	sites []*region // the last allocation that each memory instruction accessed

	local        []byte // local memory of all lanes, one after the other
	localWritten []byte

	epoch uint64           // epoch in the records of shared memory
	seen  [warpSize]uint64 // last epoch of each warp that happened before
	// shown is the last epoch whose writes are visible to the asynchronous proxy.
	shown uint64
	async async
	group warpgroup
}

// start resets the warp for the start of a block.
func (w *warp) start(threads int) {
	k := w.block.kernel
	w.state, w.path, w.stack, w.carry = ready, path{0, -1, allLanes}, w.stack[:0], 0
	if left := threads - warpSize*w.index; left < warpSize {
		w.mask = 1<<left - 1
	}
	w.live, w.early = w.mask, 0
	if w.block.run.launch.Early {
		w.early = w.mask
	}
	copy(w.r, k.start)
	for i := range w.p {
		w.p[i] = 0
	}
	if k.truth > 0 {
		w.p[k.truth-1] = allLanes
	}
	mark(w.local, 0xff)
	mark(w.localWritten, 0)
	w.async.reset()
	w.group.reset()
	for _, s := range k.special {
		specialRegisters[s.name].fill(w, &w.r[s.slot])
	}
	for i, p := range k.variableAddress {
		fill(&w.r[p.slot], w.block.variableAddress[i])
	}
}

// pop continues with waiting lanes; it returns false if there are none.
func (w *warp) pop() bool {
	for len(w.stack) > 0 {
		w.path = w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if w.mask &= w.live; w.mask != 0 {
			return true
		}
	}
	w.state = ended
	return false
}

// run executes at most a number of instructions, or until the warp waits or exits. It
// returns how many it executed.
func (w *warp) run(budget int) int {
	code := w.block.kernel.code
	w.budget = budget
	n := 0
	for ; n < w.budget; n++ {
		for w.pc == w.join {
			if !w.pop() {
				return n
			}
		}
		in := &code[w.pc]
		active := w.mask
		if in.guard >= 0 {
			if in.guardNot {
				active &^= w.p[in.guard]
			} else {
				active &= w.p[in.guard]
			}
		}
		switch in.control {
		case plain:
			if active != 0 {
				if w.block.run.launch.Watch != nil {
					w.watch(in, active)
				}
				in.run(w, active)
			}
			w.pc++
		case branch:
			switch active {
			case 0:
				w.pc++
			case w.mask:
				w.pc = in.targets[0]
			default:
				w.diverge(in, in.targets[0], active)
			}
		case branchIndexed:
			if !w.jumpIndexed(in, active) {
				return n + 1
			}
		case exit:
			if left := active & w.early; left != 0 {
				panic(w.fault(TooEarly, bits.TrailingZeros32(left), "the thread ends without griddepcontrol.wait, so that grids which wait for this one do not wait for those before"))
			}
			w.live &^= active
			w.mask &^= active
			w.pc++
			if w.mask == 0 && !w.pop() {
				return n + 1
			}
		case barrier:
			if active == 0 {
				w.pc++
				break
			}
			if w.arrive(in, active) {
				return n + 1
			}
		case trap:
			if active != 0 {
				panic(w.fault(Trapped, bits.TrailingZeros32(active), "the kernel stopped itself"))
			}
			w.pc++
		}
	}
	return n
}

// diverge lets the lanes that take the branch run first, then the others, and reconverges
// them where both paths meet.
func (w *warp) diverge(in *instruction, target int, taken uint32) {
	if in.uniform {
		panic(w.fault(Trapped, bits.TrailingZeros32(taken), "a branch marked .uni is not taken by all lanes"))
	}
	rest := w.mask &^ taken
	join := w.meet(in)
	next := w.pc + 1
	switch join {
	case next:
		w.path = path{target, join, taken}
		return
	case target:
		w.path = path{next, join, rest}
		return
	}
	w.stack = append(w.stack, path{next, join, rest})
	w.path = path{target, join, taken}
}

// meet returns where diverging lanes reconverge, and makes them all continue there.
func (w *warp) meet(in *instruction) int {
	if in.join < 0 { // only at the exit, or at the reconvergence of an outer branch
		return w.join
	}
	if in.join != w.join {
		w.stack = append(w.stack, path{in.join, w.join, w.mask})
	}
	return in.join
}

// jumpIndexed splits the lanes by their targets.
func (w *warp) jumpIndexed(in *instruction, active uint32) bool {
	index := &w.r[in.index]
	groups := map[int]uint32{}
	var order []int
	for m := active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if index[lane] >= uint64(len(in.targets)) {
			panic(w.fault(Trapped, lane, "index %d of %d branch targets", index[lane], len(in.targets)))
		}
		t := in.targets[index[lane]]
		if groups[t] == 0 {
			order = append(order, t)
		}
		groups[t] |= 1 << lane
	}
	if rest := w.mask &^ active; rest != 0 {
		if groups[w.pc+1] == 0 {
			order = append(order, w.pc+1)
		}
		groups[w.pc+1] |= rest
	}
	if len(order) == 1 {
		w.pc = order[0]
		return true
	}
	if in.uniform {
		panic(w.fault(Trapped, bits.TrailingZeros32(active), "a branch marked .uni goes to several targets"))
	}
	join := w.meet(in)
	for _, t := range order {
		if t != join {
			w.stack = append(w.stack, path{t, join, groups[t]})
		}
	}
	return w.pop()
}

// byMembers returns the step of a warp-wide instruction whose member mask is in a register. The lanes with the same mask are a group. Every lane of a
// mask that has not ended must execute the instruction, with that mask.
func byMembers(members int, do step) step {
	return func(w *warp, mask uint32) {
		masks := &w.r[members]
		for rest := mask; rest != 0; {
			named := uint32(masks[bits.TrailingZeros32(rest)])
			group := uint32(0)
			for m := rest; m != 0; m &= m - 1 {
				if lane := bits.TrailingZeros32(m); uint32(masks[lane]) == named {
					group |= 1 << lane
				}
			}
			if missing := named &^ group; missing&w.live != 0 || named&group != group {
				lane := bits.TrailingZeros32(missing & w.live)
				if lane == warpSize {
					lane = bits.TrailingZeros32(group &^ named)
				}
				panic(w.fault(InactiveLane, lane, "the member mask is %#x, the lanes that execute it are %#x", named, group))
			}
			do(w, group)
			rest &^= group
		}
	}
}

// everyLane checks that all lanes execute an instruction for whole warps.
func (w *warp) everyLane(active uint32) {
	if active != allLanes {
		panic(w.fault(InactiveLane, bits.TrailingZeros32(^active), "all 32 lanes must execute it, not %#x", active))
	}
}
