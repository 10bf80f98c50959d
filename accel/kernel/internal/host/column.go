package host

import (
	"unsafe"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// kind is how a column has its values.
type kind uint8

const (
	uniform kind = iota // one value for all threads
	linear              // a function of the position of the thread, of type Int64
	vector              // a value for each thread
)

// column has the values of a variable or a constant for the threads of a block.
type column struct {
	typ    program.Type
	kind   kind
	filled bool           // data has the values of all threads, although kind is not vector
	one    uint64         // memory for the value of a uniform column
	form   form           // of a linear one
	data   unsafe.Pointer // the values by thread; nil until it is needed
	// domain is the number of threads for which the variable was declared: those that may read its values. Among them are all that
	// assign to it.
	domain int
}

// vec returns the values by thread.
func vec[T any](m *machine, c *column) []T {
	if c.data == nil {
		c.data = unsafe.Pointer(unsafe.SliceData(make([]uint64, (m.n*c.typ.Size()+7)/8)))
	}
	return unsafe.Slice((*T)(c.data), m.n)
}

// one returns the value of a uniform column, as a slice with one element.
func one[T any](c *column) []T { return unsafe.Slice((*T)(unsafe.Pointer(&c.one)), 1) }

// setBits sets the value of a uniform column to that of an operand.
func (c *column) setBits(bits uint64) {
	before, same := c.one, c.kind == uniform && c.filled
	switch c.typ.Size() {
	case 1:
		one[uint8](c)[0] = uint8(bits)
	case 2:
		one[uint16](c)[0] = uint16(bits)
	case 4:
		one[uint32](c)[0] = uint32(bits)
	default:
		c.one = bits
	}
	c.kind, c.filled = uniform, same && c.one == before
}

// int returns the value of a thread of a column of integers.
func (m *machine) int(c *column, k int) int64 {
	m.fill(c)
	switch c.typ {
	case program.Int8:
		return int64(vec[int8](m, c)[k])
	case program.Int16:
		return int64(vec[int16](m, c)[k])
	case program.Int32:
		return int64(vec[int32](m, c)[k])
	}
	return vec[int64](m, c)[k]
}

// fill makes data have the values of all threads.
func (m *machine) fill(c *column) {
	if c.kind == vector || c.filled {
		return
	}
	c.filled = true
	switch {
	case c.kind == linear:
		m.fillLinear(vec[int64](m, c), c.form)
	case c.typ.Size() == 1:
		repeat(vec[uint8](m, c), one[uint8](c)[0])
	case c.typ.Size() == 2:
		repeat(vec[uint16](m, c), one[uint16](c)[0])
	case c.typ.Size() == 4:
		repeat(vec[uint32](m, c), one[uint32](c)[0])
	default:
		repeat(vec[uint64](m, c), c.one)
	}
}

func repeat[T any](d []T, v T) {
	n := min(16, len(d))
	for i := range n {
		d[i] = v
	}
	for n < len(d) {
		n += copy(d[n:], d[:n])
	}
}

// assigned prepares a column for values of threads that are then stored in its data. declares says that the instruction declares the
// variable, so that nothing uses the values of other threads.
func (m *machine) assigned(c *column, t threads, declares bool) {
	if declares {
		c.domain = t.n()
	} else if t.n() < c.domain {
		m.fill(c)
	}
	c.kind, c.filled = vector, false
}

// whole reports whether an assignment by threads determines all values of a column.
func (c *column) whole(t threads, declares bool) bool {
	if declares {
		c.domain = t.n()
		return true
	}
	return t.n() == c.domain
}

// set gives a column the values of another, which is not a vector.
func (c *column) set(x *column) {
	if c.kind != x.kind || c.one != x.one || c.form != x.form { // else data may stay filled
		c.kind, c.filled, c.one, c.form = x.kind, false, x.one, x.form
	}
}

// copyThreads copies the values of threads.
func (m *machine) copyThreads(d, x *column, t threads) {
	switch d.typ.Size() {
	case 1:
		copyValues(vec[uint8](m, d), vec[uint8](m, x), t)
	case 2:
		copyValues(vec[uint16](m, d), vec[uint16](m, x), t)
	case 4:
		copyValues(vec[uint32](m, d), vec[uint32](m, x), t)
	default:
		copyValues(vec[uint64](m, d), vec[uint64](m, x), t)
	}
}

func copyValues[T any](d, x []T, t threads) {
	if t.list == nil {
		copy(d[t.lo:t.hi], x[t.lo:t.hi])
	}
	for _, k := range t.list {
		d[k] = x[k]
	}
}
