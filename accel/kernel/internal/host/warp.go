package host

import (
	"fmt"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileSync checks that all threads that have not returned are at the barrier; nothing else is to do, because all threads
// execute an instruction before the next one.
func (m *machine) compileSync(i *program.Instr) code {
	return func(t threads) threads {
		if m.pending == nil && t.n() == m.lanes-m.returned.n {
			return t
		}
		t = m.meet(t, m.threads)
		here, returned := m.byBlock(t), m.byBlock(m.returned.take())
		for b, n := range here {
			if n == 0 || n == m.threads-returned[b] {
				continue
			}
			first := t.find(func(k int) bool { return k >= b*m.threads })
			return m.fault(i, t, first, 0, 0, fmt.Sprintf("%d threads of the block are at this barrier, of %d that have not returned: not all threads call Sync",
				n, m.threads-returned[b]))
		}
		return t
	}
}

// byBlock returns how many of the threads each block has.
func (m *machine) byBlock(t threads) []int {
	n := make([]int, m.sizes[blockAxis])
	t.each(func(k int) { n[k/m.threads]++ })
	return n
}

// meet ends threads that meet one with a fault, in a part of n threads of a block: they do not go on without it.
func (m *machine) meet(t threads, n int) threads {
	if m.pending == nil {
		return t
	}
	m.limit = m.limit / n * n
	return t.below(m.limit)
}

// warps calls f for each warp, with its first thread and the number of its threads. It faults if not all of them are in t. Warps do not
// cross blocks: there are several only if each has whole warps.
func (m *machine) warps(i *program.Instr, t threads, f func(first, n int)) threads {
	t = m.meet(t, program.WarpSize)
	all := t
	for first := t.lo / program.WarpSize * program.WarpSize; first < t.hi; first += program.WarpSize {
		n := min(m.lanes-first, program.WarpSize)
		here := min(t.hi, first+n) - max(t.lo, first)
		k := t.lo
		if t.list != nil {
			here = 0
			for ; len(t.list) > 0 && int(t.list[0]) < first+n; t.list = t.list[1:] {
				if here == 0 {
					k = int(t.list[0])
				}
				here++
			}
			if here == 0 {
				continue
			}
		}
		if here != n {
			return m.fault(i, all, max(k, first), 0, 0, fmt.Sprintf("%d of the %d threads of the warp are here: all of them must call this", here, n))
		}
		f(first, n)
	}
	return all
}

func (m *machine) compileShuffle(i *program.Instr) code {
	if i.Type.Size() == 4 {
		return compileShuffleOf[uint32](m, i)
	}
	return compileShuffleOf[uint64](m, i)
}

func compileShuffleOf[T any](m *machine, i *program.Instr) code {
	d, x, lane, declares := m.operands(i)
	return func(t threads) threads {
		m.fill(x)
		m.fill(lane)
		m.assigned(d, t, declares)
		dv, xv, lv := vec[T](m, d), vec[T](m, x), vec[uint64](m, lane)
		return m.warps(i, t, func(first, n int) {
			var values [program.WarpSize]T
			copy(values[:n], xv[first:])
			for k := first; k < first+n; k++ {
				dv[k] = values[lv[k]%program.WarpSize]
			}
		})
	}
}

func (m *machine) compileVote(i *program.Instr) code {
	d, x, _, declares := m.operands(i)
	return func(t threads) threads {
		m.fill(x)
		m.assigned(d, t, declares)
		xv := vec[uint8](m, x)
		return m.warps(i, t, func(first, n int) {
			var ballot uint32
			for k := range n {
				ballot |= uint32(xv[first+k]) << k
			}
			switch i.Op {
			case program.Any:
				repeat(vec[uint8](m, d)[first:first+n], truth(ballot != 0))
			case program.All:
				repeat(vec[uint8](m, d)[first:first+n], truth(ballot == uint32(1<<n-1)))
			default:
				repeat(vec[uint32](m, d)[first:first+n], ballot)
			}
		})
	}
}
