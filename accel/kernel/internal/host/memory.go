package host

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// memory is a memory of a block. In one that belongs to the threads, the same element of all threads is stored together.
type memory struct {
	data    []byte
	n       int     // elements, of each thread or block if they have their own
	own     bool    // each thread has its own
	shared  bool    // each block has its own
	written []uint8 // 1 for elements that have been written; nil if all have
	missing int     // elements that have not been written
}

func (m *machine) newMemory(p *program.Memory) *memory {
	size := p.Elem.Size()
	switch p.Space {
	case program.Global:
		return &memory{} // begin sets it
	case program.Shared:
		n := p.Len * m.grid.blocks
		return &memory{data: aligned(n * size), n: p.Len, shared: true, written: make([]uint8, n)}
	}
	return &memory{data: aligned(m.n * p.Len * size), n: p.Len, own: true}
}

// aligned returns memory for elements of any type.
func aligned(n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, (n+7)/8)))), n)
}

// elements returns the elements of a memory.
func elements[T any](p *memory) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p.data))), len(p.data)/int(unsafe.Sizeof(zero)))
}

// reset begins a group of blocks.
func (p *memory) reset(blocks int) {
	if p.shared {
		p.missing = blocks * p.n
		clear(p.written)
	}
}

// write marks elements as written.
func (p *memory) write(from, to int) {
	if p.missing == 0 {
		return
	}
	part := p.written[from:to]
	p.missing -= bytes.Count(part, []byte{0})
	for i := range part {
		part[i] = 1
	}
}

// compileMemory compiles an instruction that accesses memory.
func compileMemory[T number](m *machine, i *program.Instr) code {
	a := &access[T]{m: m, i: i, p: m.memories[i.Mem.ID], index: m.operand(i.Args[0])}
	if i.Dst != nil {
		a.d, a.declares = m.vars[i.Dst.ID], m.declares(i)
	}
	if len(i.Args) > 1 {
		a.x, a.y = m.operand(i.Args[1]), m.operand(i.Args[len(i.Args)-1])
	}
	switch i.Op {
	case program.Load:
		return a.load
	case program.Store:
		return a.store
	}
	return a.atomic
}

// access is an instruction that accesses elements of type T.
type access[T number] struct {
	m        *machine
	i        *program.Instr
	p        *memory
	d        *column // of the result
	declares bool
	index    *column
	x, y     *column // the other operands
}

const unwritten = "read of shared memory that no thread of the block has written"

// place returns the position of an element in the memory; ok is false if there is none, which only unchecked kernels try.
func (a *access[T]) place(k int, index uint64) (at int, ok bool) {
	if index >= uint64(a.p.n) {
		return 0, false
	}
	p := a.p
	if p.own {
		return int(index)*a.m.n + k, true
	}
	if p.shared {
		return int(index) + k/a.m.threads*p.n, true
	}
	return int(index), true
}

// fault ends threads from k on, whose access is wrong.
func (a *access[T]) fault(t threads, k int, index uint64) threads {
	detail := unwritten
	if index >= uint64(a.p.n) {
		detail = fmt.Sprintf("element %d of %s, which contains %d", int64(index), a.i.Mem.Name, a.p.n)
	}
	return a.m.fault(a.i, t, k, int64(index), int64(a.p.n), detail)
}

// known returns the form of the index if it is one and in range for all threads of t, which are a range.
func (a *access[T]) known(t threads) (f form, ok bool) {
	f, ok = formOf(a.index)
	if !ok || !a.m.inside(a.index, t, int64(a.p.n)) {
		return f, false
	}
	if a.p.shared && a.m.sizes[blockAxis] > 1 {
		f.stride[blockAxis] += int64(a.p.n)
	}
	return f, true
}

func (a *access[T]) load(t threads) threads {
	m, p, d := a.m, a.p, a.d
	data := elements[T](p)
	if a.index.kind == uniform && !p.own && (!p.shared || m.sizes[blockAxis] == 1) && d.whole(t, a.declares) {
		at, ok := a.place(0, a.index.one)
		if !ok || p.missing > 0 && p.written[at] == 0 {
			return a.fault(t, t.lo, a.index.one)
		}
		one[T](d)[0] = data[at]
		d.kind, d.filled = uniform, false
		return t
	}
	if t.list == nil || a.declares && p.missing == 0 && t.mostly() {
		if f, ok := a.known(t); ok && a.loadRows(data, f, t) {
			return t
		}
	}
	m.fill(a.index)
	m.assigned(d, t, a.declares)
	dv, index := vec[T](m, d), vec[uint64](m, a.index)
	if t.list == nil && !p.own && !p.shared {
		for k := t.lo; k < t.hi; k++ {
			at := index[k]
			if at >= uint64(len(data)) {
				return a.fault(t, k, at)
			}
			dv[k] = data[at]
		}
		return t
	}
	bad := t.find(func(k int) bool {
		at, ok := a.place(k, index[k])
		if !ok || p.missing > 0 && p.written[at] == 0 {
			return true
		}
		dv[k] = data[at]
		return false
	})
	if bad >= 0 {
		return a.fault(t, bad, index[bad])
	}
	return t
}

// loadRows loads elements whose positions are known; it returns false if one of them has not been written.
func (a *access[T]) loadRows(data []T, f form, t threads) bool {
	m, p := a.m, a.p
	if p.own && !f.isUniform() {
		return false
	}
	m.assigned(a.d, t, a.declares)
	dv := vec[T](m, a.d)
	stride, good := int(f.stride[0]), true
	if p.own {
		copy(dv[t.lo:t.hi], data[int(f.base)*m.n+t.lo:])
		return true
	}
	m.rows(f, t.lo, t.hi, func(k, end int, v int64) {
		row, at := dv[k:end], int(v)
		switch stride {
		case 1:
			copy(row, data[at:])
			good = good && (p.missing == 0 || bytes.IndexByte(p.written[at:at+len(row)], 0) < 0)
		case 0:
			x := data[at]
			for i := range row {
				row[i] = x
			}
			good = good && (p.missing == 0 || p.written[at] != 0)
		default:
			for i := range row {
				row[i] = data[at]
				good = good && (p.missing == 0 || p.written[at] != 0)
				at += stride
			}
		}
	})
	return good
}

func (a *access[T]) store(t threads) threads {
	m, p := a.m, a.p
	data := elements[T](p)
	m.fill(a.x)
	xv := vec[T](m, a.x)
	if t.list == nil {
		if f, ok := a.known(t); ok && (!p.own || f.isUniform()) {
			a.storeRows(data, xv, f, t)
			return t
		}
	}
	m.fill(a.index)
	index := vec[uint64](m, a.index)
	if !p.own && !p.shared && t.list != nil {
		for _, k := range t.list {
			at := index[k]
			if at >= uint64(len(data)) {
				return a.fault(t, int(k), at)
			}
			data[at] = xv[k]
		}
		return t
	}
	bad := t.find(func(k int) bool {
		at, ok := a.place(k, index[k])
		if !ok {
			return true
		}
		if p.missing > 0 {
			p.write(at, at+1)
		}
		data[at] = xv[k]
		return false
	})
	if bad >= 0 {
		return a.fault(t, bad, index[bad])
	}
	return t
}

// storeRows stores elements whose positions are known. If threads store the same element, it is that of the last one.
func (a *access[T]) storeRows(data, xv []T, f form, t threads) {
	p := a.p
	if p.own {
		copy(data[int(f.base)*a.m.n+t.lo:], xv[t.lo:t.hi])
		return
	}
	stride := int(f.stride[0])
	a.m.rows(f, t.lo, t.hi, func(k, end int, v int64) {
		row, at := xv[k:end], int(v)
		switch stride {
		case 1:
			copy(data[at:], row)
			p.write(at, at+len(row))
		case 0:
			data[at] = row[len(row)-1]
			p.write(at, at+1)
		default:
			for _, x := range row {
				data[at] = x
				p.write(at, at+1)
				at += stride
			}
		}
	})
}

func (a *access[T]) atomic(t threads) threads {
	m, p := a.m, a.p
	for _, c := range []*column{a.index, a.x, a.y} {
		m.fill(c)
	}
	m.assigned(a.d, t, a.declares)
	data, dv, index, xv, yv := elements[T](p), vec[T](m, a.d), vec[uint64](m, a.index), vec[T](m, a.x), vec[T](m, a.y)
	later := m.grid.later != nil && a.i.Mem.Space == program.Global
	bad := t.find(func(k int) bool {
		at, ok := a.place(k, index[k])
		if !ok || p.missing > 0 && p.written[at] == 0 {
			return true
		}
		if later {
			m.operations = append(m.operations, operation{a, at, bitsOf(xv[k]), bitsOf(yv[k])})
			return false
		}
		dv[k] = data[at]
		data[at] = a.changed(data[at], xv[k], yv[k])
		return false
	})
	if bad >= 0 {
		return a.fault(t, bad, index[bad])
	}
	return t
}

// apply executes a deferred operation.
func (a *access[T]) apply(o operation) {
	data := elements[T](a.p)
	data[o.at] = a.changed(data[o.at], valueOf[T](o.x), valueOf[T](o.y))
}

// changed returns the new value of an element.
func (a *access[T]) changed(old, x, y T) T {
	switch a.i.Op {
	case program.AtomicAdd:
		return old + x
	case program.AtomicMin:
		return min(old, x)
	case program.AtomicMax:
		return max(old, x)
	case program.AtomicCAS:
		if old != x {
			return old
		}
		return y
	}
	return x
}
