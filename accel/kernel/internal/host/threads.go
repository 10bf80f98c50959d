package host

import "bytes"

// threads is a set of threads of a block: those from lo up to hi or, if list is not nil, those of an ascending list, of which lo is the
// first and hi-1 the last.
type threads struct {
	lo, hi int
	list   []int32
}

func (t threads) n() int {
	if t.list != nil {
		return len(t.list)
	}
	return t.hi - t.lo
}

// ofList returns the threads of an ascending list.
func ofList(list []int32) threads {
	if len(list) == 0 {
		return threads{}
	}
	t := threads{int(list[0]), int(list[len(list)-1]) + 1, list}
	if t.hi-t.lo == len(list) {
		t.list = nil
	}
	return t
}

// below returns the threads with a number less than limit.
func (t threads) below(limit int) threads {
	if limit >= t.hi {
		return t
	}
	if limit <= t.lo {
		return threads{}
	}
	if t.list == nil {
		return threads{lo: t.lo, hi: limit}
	}
	n := 0
	for n < len(t.list) && int(t.list[n]) < limit {
		n++
	}
	return ofList(t.list[:n])
}

// kept returns the threads with a copy of their list in a buffer, where it stays while the list is used again.
func (t threads) kept(buffer *[]int32) threads {
	if t.list != nil {
		*buffer = append((*buffer)[:0], t.list...)
		t.list = *buffer
	}
	return t
}

// mostly reports whether an instruction whose results only these threads use is faster for the whole range.
func (t threads) mostly() bool { return t.list == nil || 2*len(t.list) >= t.hi-t.lo }

// split returns the threads for which cond is 1, and the others. Lists are stored in yes and no.
func (t threads) split(cond []uint8, yes, no *[]int32) (threads, threads) {
	y, n := (*yes)[:0], (*no)[:0]
	if t.list == nil {
		part := cond[t.lo:t.hi]
		// Most sets are split in two ranges, or not at all.
		if k := t.lo + run(part); k == t.hi {
			if part[0] != 0 {
				return t, threads{}
			}
			return threads{}, t
		} else if k+run(cond[k:t.hi]) == t.hi {
			if part[0] != 0 {
				return threads{lo: t.lo, hi: k}, threads{lo: k, hi: t.hi}
			}
			return threads{lo: k, hi: t.hi}, threads{lo: t.lo, hi: k}
		}
		for k, c := range part {
			if c != 0 {
				y = append(y, int32(t.lo+k))
			} else {
				n = append(n, int32(t.lo+k))
			}
		}
	}
	for _, k := range t.list {
		if cond[k] != 0 {
			y = append(y, k)
		} else {
			n = append(n, k)
		}
	}
	*yes, *no = y, n
	return ofList(y), ofList(n)
}

// run returns how many bytes, which are 0 or 1, are equal to the first one.
func run(cond []uint8) int {
	if n := bytes.IndexByte(cond, 1-cond[0]); n >= 0 {
		return n
	}
	return len(cond)
}

// union collects threads.
type union struct {
	set    threads
	n      int
	marked bool // set is not used, but marks
	marks  []bool
	buffer []int32
}

func (u *union) reset() {
	if u.marked {
		clear(u.marks)
	}
	u.set, u.n, u.marked = threads{}, 0, false
}

// add adds threads, which u does not contain.
func (u *union) add(t threads) {
	n := t.n()
	switch {
	case n == 0:
		return
	case u.n == 0:
		u.set = t
		if t.list != nil {
			u.buffer = append(u.buffer[:0], t.list...)
			u.set.list = u.buffer
		}
	case !u.marked && t.list == nil && u.set.list == nil && (t.lo == u.set.hi || t.hi == u.set.lo):
		u.set = threads{lo: min(t.lo, u.set.lo), hi: max(t.hi, u.set.hi)}
	default:
		if !u.marked {
			u.marked = true
			u.mark(u.set)
		}
		u.mark(t)
		u.set.lo, u.set.hi = min(u.set.lo, t.lo), max(u.set.hi, t.hi)
	}
	u.n += n
}

func (u *union) mark(t threads) {
	if t.list == nil {
		for k := t.lo; k < t.hi; k++ {
			u.marks[k] = true
		}
	}
	for _, k := range t.list {
		u.marks[k] = true
	}
}

// take returns the threads. They are valid until the next ones are added.
func (u *union) take() threads {
	if !u.marked {
		return u.set
	}
	list := u.buffer[:0]
	for k := u.set.lo; k < u.set.hi; k++ {
		if u.marks[k] {
			list = append(list, int32(k))
		}
	}
	u.buffer = list
	return ofList(list)
}

// each calls f for each thread, in ascending order.
func (t threads) each(f func(k int)) {
	if t.list == nil {
		for k := t.lo; k < t.hi; k++ {
			f(k)
		}
	}
	for _, k := range t.list {
		f(int(k))
	}
}

// find returns the first thread for which f is true; -1 if there is none.
func (t threads) find(f func(k int) bool) int {
	if t.list == nil {
		for k := t.lo; k < t.hi; k++ {
			if f(k) {
				return k
			}
		}
	}
	for _, k := range t.list {
		if f(int(k)) {
			return int(k)
		}
	}
	return -1
}
