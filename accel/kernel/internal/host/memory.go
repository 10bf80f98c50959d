package host

import (
	"encoding/binary"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// memory is a memory of a block.
type memory struct {
	data    []byte
	n       int    // elements
	stride  int    // elements from one thread to the next; 0 if all threads share them
	written []bool // whether an element has been written; nil if all have
}

func (m *machine) newMemory(p *program.Memory) memory {
	switch p.Space {
	case program.Global:
		data := m.grid.Memory[p.Param]
		return memory{data: data, n: len(data) / p.Elem.Size()}
	case program.Shared:
		return memory{data: make([]byte, p.Len*p.Elem.Size()), n: p.Len, written: make([]bool, p.Len)}
	}
	return memory{data: make([]byte, m.n*p.Len*p.Elem.Size()), n: p.Len, stride: p.Len}
}

// at returns the offset of an element, in elements. Only unchecked code can be out of range.
func (m *machine) at(mem *memory, i *program.Instr, thread int32, index uint64) int {
	if index >= uint64(mem.n) {
		m.fault(i, int(thread), index, uint64(mem.n), "")
	}
	return int(index) + int(thread)*mem.stride
}

func (m *machine) compileLoad(i *program.Instr) func([]int32) {
	mem, d, index, t := &m.memories[i.Mem.ID], m.vars[i.Dst.ID], m.source(i.Args[0]), i.Type
	return func(threads []int32) {
		for _, k := range threads {
			at := m.at(mem, i, k, index[k])
			if mem.written != nil && !mem.written[at] {
				m.fault(i, int(k), uint64(at), uint64(mem.n), "read of shared memory that no thread of the block has written")
			}
			d[k] = load(mem.data, at, t)
		}
	}
}

func (m *machine) compileStore(i *program.Instr) func([]int32) {
	mem, index, x, t := &m.memories[i.Mem.ID], m.source(i.Args[0]), m.source(i.Args[1]), i.Type
	return func(threads []int32) {
		for _, k := range threads {
			at := m.at(mem, i, k, index[k])
			if mem.written != nil {
				mem.written[at] = true
			}
			store(mem.data, at, t, x[k])
		}
	}
}

func (m *machine) compileAtomic(i *program.Instr) func([]int32) {
	mem, d, index, x, t := &m.memories[i.Mem.ID], m.vars[i.Dst.ID], m.source(i.Args[0]), m.source(i.Args[1]), i.Type
	next := x
	if i.Op == program.AtomicCAS {
		next = m.source(i.Args[2])
	}
	ops := map[program.Op]program.Op{program.AtomicAdd: program.Add, program.AtomicMin: program.Min, program.AtomicMax: program.Max}
	change := func(old, x, _ uint64) uint64 { return x }
	if op, ok := ops[i.Op]; ok {
		f := binaryOp(op, t)
		change = func(old, x, _ uint64) uint64 { return f(old, x) }
	} else if i.Op == program.AtomicCAS {
		change = func(old, x, y uint64) uint64 {
			if old == x {
				return y
			}
			return old
		}
	}
	return func(threads []int32) {
		for _, k := range threads {
			at := m.at(mem, i, k, index[k])
			if mem.written != nil && !mem.written[at] {
				m.fault(i, int(k), uint64(at), uint64(mem.n), "read of shared memory that no thread of the block has written")
			}
			old := load(mem.data, at, t)
			store(mem.data, at, t, change(old, x[k], next[k]))
			d[k] = old
		}
	}
}

// load returns an element.
func load(data []byte, at int, t program.Type) uint64 {
	switch t {
	case program.Bool, program.Uint8:
		return uint64(data[at])
	case program.Int8:
		return uint64(int8(data[at]))
	case program.Int16:
		return uint64(int16(binary.LittleEndian.Uint16(data[2*at:])))
	case program.Uint16:
		return uint64(binary.LittleEndian.Uint16(data[2*at:]))
	case program.Int32:
		return uint64(int32(binary.LittleEndian.Uint32(data[4*at:])))
	case program.Uint32, program.Float32:
		return uint64(binary.LittleEndian.Uint32(data[4*at:]))
	}
	return binary.LittleEndian.Uint64(data[8*at:])
}

func store(data []byte, at int, t program.Type, v uint64) {
	switch t.Size() {
	case 1:
		data[at] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(data[2*at:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(data[4*at:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(data[8*at:], v)
	}
}
