package host

import (
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// compileCheck compiles an instruction that faults under a condition.
func (m *machine) compileCheck(i *program.Instr) code {
	switch i.Op {
	case program.CheckIndex:
		return m.compileCheckIndex(i)
	case program.CheckSlice:
		return m.compileCheckSlice(i)
	}
	return typeOf(i.Type).check(m, i)
}

// compileCheckInteger compiles a check of a divisor or of a shift count.
func compileCheckInteger[T integer](m *machine, i *program.Instr) code {
	if i.Op == program.CheckDivisor {
		return checkEach(m, i, func(x T) bool { return x != 0 })
	}
	return checkEach(m, i, func(x T) bool { return x >= 0 })
}

// checkEach returns code that faults for threads whose operand is not good.
func checkEach[T any](m *machine, i *program.Instr, good func(T) bool) code {
	x := m.operand(i.Args[0])
	return func(t threads) threads {
		if x.kind == uniform && good(one[T](x)[0]) {
			return t
		}
		m.fill(x)
		xv := vec[T](m, x)
		if k := t.find(func(k int) bool { return !good(xv[k]) }); k >= 0 {
			index := int64(0)
			if i.Op == program.CheckShift {
				index = m.int(x, k)
			}
			return m.fault(i, t, k, index, 0, "")
		}
		return t
	}
}

func (m *machine) compileCheckIndex(i *program.Instr) code {
	x, n := m.operand(i.Args[0]), m.operand(i.Args[1])
	return func(t threads) threads {
		if n.kind == uniform && m.inside(x, t, int64(n.one)) {
			return t
		}
		m.fill(x)
		xv := vec[uint64](m, x)
		var bad int
		if n.kind == uniform {
			bad = firstFrom(xv, n.one, t)
		} else {
			m.fill(n)
			nv := vec[uint64](m, n)
			bad = t.find(func(k int) bool { return xv[k] >= nv[k] })
		}
		if bad >= 0 {
			return m.fault(i, t, bad, m.int(x, bad), m.int(n, bad), "")
		}
		return t
	}
}

// firstFrom returns the first thread whose value is at least limit; -1 if there is none.
func firstFrom(x []uint64, limit uint64, t threads) int {
	if t.list == nil {
		for k, v := range x[t.lo:t.hi] {
			if v >= limit {
				return t.lo + k
			}
		}
		return -1
	}
	for _, k := range t.list {
		if x[k] >= limit {
			return int(k)
		}
	}
	return -1
}

func (m *machine) compileCheckSlice(i *program.Instr) code {
	x, high, limit := m.operand(i.Args[0]), m.operand(i.Args[1]), m.operand(i.Args[2])
	return func(t threads) threads {
		if m.ordered(x, high, limit, t) {
			return t
		}
		m.fill(x)
		m.fill(high)
		m.fill(limit)
		xv, hv, lv := vec[uint64](m, x), vec[uint64](m, high), vec[uint64](m, limit)
		if k := t.find(func(k int) bool { return xv[k] > hv[k] || hv[k] > lv[k] }); k >= 0 {
			return m.fault(i, t, k, m.int(x, k), m.int(high, k), "")
		}
		return t
	}
}

// ordered reports whether 0 <= x <= high <= limit is known for all threads.
func (m *machine) ordered(x, high, limit *column, t threads) bool {
	last := int64(0)
	for _, c := range []*column{x, high, limit} {
		f, ok := formOf(c)
		if !ok {
			return false
		}
		low, top, ok := m.bounds(f, t)
		if !ok || low < last {
			return false
		}
		last = top
	}
	return true
}
