package host

import (
	"fmt"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileSync checks that all threads that have not returned are at the barrier; nothing else is to do, because all threads
// execute an instruction before the next one.
func (m *machine) compileSync(i *program.Instr) func([]int32) {
	return func(threads []int32) {
		if alive := m.n - len(m.root.threads); len(threads) != alive {
			m.fault(i, int(threads[0]), 0, 0, fmt.Sprintf("%d threads of the block are at this barrier, of %d that have not returned: not all threads call Sync", len(threads), alive))
		}
	}
}

// warps calls f for each warp, with its first thread and the number of its threads. It faults if not all of them are in the list.
func (m *machine) warps(i *program.Instr, threads []int32, f func(first, n int)) {
	for len(threads) > 0 {
		first := int(threads[0]) / program.WarpSize * program.WarpSize
		n := min(m.n-first, program.WarpSize)
		k := 0
		for k < len(threads) && int(threads[k]) < first+n {
			k++
		}
		if k != n {
			m.fault(i, int(threads[0]), 0, 0, fmt.Sprintf("%d of the %d threads of the warp are here: all of them must call this", k, n))
		}
		f(first, n)
		threads = threads[k:]
	}
}

func (m *machine) compileShuffle(i *program.Instr) func([]int32) {
	d, x, lane := m.vars[i.Dst.ID], m.source(i.Args[0]), m.source(i.Args[1])
	return func(threads []int32) {
		m.warps(i, threads, func(first, n int) {
			var values [program.WarpSize]uint64
			copy(values[:n], x[first:])
			for k := first; k < first+n; k++ {
				d[k] = values[lane[k]]
			}
		})
	}
}

func (m *machine) compileVote(i *program.Instr) func([]int32) {
	d, x := m.vars[i.Dst.ID], m.source(i.Args[0])
	return func(threads []int32) {
		m.warps(i, threads, func(first, n int) {
			var ballot uint64
			for k := range n {
				ballot |= x[first+k] << k
			}
			v := ballot
			switch i.Op {
			case program.Any:
				v = truth(ballot != 0)
			case program.All:
				v = truth(ballot == 1<<n-1)
			}
			fill(d[first:first+n], v)
		})
	}
}

func (m *machine) compileSyncWarp(i *program.Instr) func([]int32) {
	return func(threads []int32) { m.warps(i, threads, func(int, int) {}) }
}
