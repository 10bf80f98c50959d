package host

import (
	"math/bits"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// axes are along which threads have a position: x, y and z in the block, and blockAxis, the position of the block in the group.
const (
	axes      = 4
	blockAxis = 3
)

// form is a function of the position of a thread: base, and for each axis the stride times the position, modulo 1<<64. The stride along
// an axis with one position is 0. Indices mostly have such values, so that the threads access neighboring elements.
type form struct {
	base   int64
	stride [axes]int64
}

// formOf returns the form of a column of type Int64.
func formOf(c *column) (f form, ok bool) {
	switch c.kind {
	case uniform:
		return form{base: int64(c.one)}, true
	case linear:
		return c.form, true
	}
	return f, false
}

// setForm gives a column the values of a form.
func (c *column) setForm(f form) {
	kind := linear
	if f.isUniform() {
		kind = uniform
	}
	if c.kind != kind || c.form != f || c.one != uint64(f.base) { // else data may stay filled
		c.kind, c.filled, c.form, c.one = kind, false, f, uint64(f.base)
	}
}

func (f form) isUniform() bool { return f.stride == [axes]int64{} }

func (f form) times(k int64) form {
	f.base *= k
	for i := range f.stride {
		f.stride[i] *= k
	}
	return f
}

func (f form) plus(g form) form {
	f.base += g.base
	for i := range f.stride {
		f.stride[i] += g.stride[i]
	}
	return f
}

// along returns how many threads, from each multiple of that number on, have values with the distance f.stride[0].
func (m *machine) along(f form) (n int) {
	n = m.sizes[0]
	for axis := 1; axis < axes; axis++ {
		if m.sizes[axis] > 1 && f.stride[axis] != f.stride[0]*int64(n) {
			break
		}
		n *= m.sizes[axis]
	}
	return n
}

// at returns the value of a thread.
func (m *machine) at(f form, k int) int64 {
	v := f.base
	for axis, s := range f.stride {
		v += s * int64(k%m.sizes[axis])
		k /= m.sizes[axis]
	}
	return v
}

// bounds returns the limits between which the values of threads are; ok is false if they may overflow.
func (m *machine) bounds(f form, t threads) (low, high int64, ok bool) {
	const limit = 1 << 48
	small := func(x int64) bool { return x < limit && x > -limit }
	if !small(f.base) {
		return 0, 0, false
	}
	low, high = f.base, f.base
	for axis, s := range f.stride {
		if !small(s) {
			return 0, 0, false
		}
		last := s * int64(m.sizes[axis]-1)
		low, high = low+min(0, last), high+max(0, last)
	}
	if t.n() < m.lanes && m.along(f) == m.lanes {
		a, b := f.base+f.stride[0]*int64(t.lo), f.base+f.stride[0]*int64(t.hi-1)
		return min(a, b), max(a, b), true
	}
	return low, high, true
}

// inside reports whether the values of a column are known to be indices of n elements.
func (m *machine) inside(c *column, t threads, n int64) bool {
	f, ok := formOf(c)
	if !ok {
		return false
	}
	low, high, ok := m.bounds(f, t)
	return ok && low >= 0 && high < n
}

// rows calls each for sequences of threads between lo and hi whose values have the distance f.stride[0]: from thread k up to end, the first with the
// value v.
func (m *machine) rows(f form, lo, hi int, each func(k, end int, v int64)) {
	width := m.along(f)
	if lo/width == (hi-1)/width {
		each(lo, hi, m.at(f, lo))
		return
	}
	// The position of the row, along the axes of which width is not a part.
	var at [axes]int
	first, n := 0, 1
	for n < width {
		n *= m.sizes[first]
		first++
	}
	r := lo / width
	v := f.base
	for axis := first; axis < axes; axis++ {
		at[axis] = r % m.sizes[axis]
		v += f.stride[axis] * int64(at[axis])
		r /= m.sizes[axis]
	}
	for k := lo; k < hi; {
		row := k / width * width
		end := min(row+width, hi)
		each(k, end, v+f.stride[0]*int64(k-row))
		k = end
		for axis := first; axis < axes; axis++ {
			v += f.stride[axis]
			if at[axis]++; at[axis] < m.sizes[axis] {
				break
			}
			v -= f.stride[axis] * int64(m.sizes[axis])
			at[axis] = 0
		}
	}
}

// fillLinear stores the values for the threads of the largest group: they stay valid when another group follows.
func (m *machine) fillLinear(d []int64, f form) {
	blocks := m.sizes[blockAxis]
	m.sizes[blockAxis] = m.blocks
	defer func() { m.sizes[blockAxis] = blocks }()
	s := f.stride[0]
	m.rows(f, 0, m.n, func(k, end int, v int64) {
		row := d[k:end]
		for i := range row {
			row[i] = v
			v += s
		}
	})
}

// combine returns the result of an op on forms, if it is one for threads.
func (m *machine) combine(op program.Op, x, y form, t threads) (r form, ok bool) {
	switch op {
	case program.Add:
		return x.plus(y), true
	case program.Sub:
		return x.plus(y.times(-1)), true
	case program.Mul:
		if x.isUniform() {
			x, y = y, x
		}
		return x.times(y.base), y.isUniform()
	case program.Shl:
		if y.isUniform() && y.base >= 0 && y.base < 63 {
			return x.times(1 << y.base), true
		}
		return r, false
	}
	low, high, ok := m.bounds(x, t)
	if !ok {
		return r, false
	}
	if op == program.Min || op == program.Max {
		a, b, ok := m.bounds(y, t)
		first := high <= a // x <= y
		if op == program.Max {
			first = b <= low
		}
		if first {
			return x, ok
		}
		if op == program.Min {
			return y, ok && b <= low
		}
		return y, ok && high <= a
	}
	if !y.isUniform() || low < 0 {
		return r, false
	}
	n := y.base
	isMask := n >= 0 && bits.OnesCount64(uint64(n)+1) == 1
	switch {
	case op == program.And && isMask && low&^n == high&^n: // the bits above the mask are those of all values
		return x.plus(form{base: -(low &^ n)}), true
	case op == program.AndNot && isMask && low&^n == high&^n:
		return form{base: low &^ n}, true
	case op == program.Shr && n >= 0 && low>>n == high>>n:
		return form{base: low >> n}, true
	case op == program.Div && n > 0 && low/n == high/n:
		return form{base: low / n}, true
	case op == program.Rem && n > 0 && low/n == high/n:
		return x.plus(form{base: -(low / n * n)}), true
	}
	return r, false
}

// decide returns the result of a comparison of forms that is the same for all threads, as 0 or 1.
func (m *machine) decide(op program.Op, x, y form, t threads) (r uint8, ok bool) {
	a, b, ok1 := m.bounds(x, t)
	c, d, ok2 := m.bounds(y, t)
	if !ok1 || !ok2 {
		return 0, false
	}
	yes, no := false, false
	switch op {
	case program.Lt:
		yes, no = b < c, a >= d
	case program.Le:
		yes, no = b <= c, a > d
	case program.Eq:
		yes, no = a == b && c == d && a == c, b < c || d < a
	case program.Ne:
		no, yes = a == b && c == d && a == c, b < c || d < a
	}
	if yes {
		r = 1
	}
	return r, yes || no
}
