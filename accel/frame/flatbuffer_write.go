package frame

import (
	"encoding/binary"
	"slices"
)

// flatWriter makes a table in the format FlatBuffers, from the end to the beginning: what refers to something
// is written after it and stands before it. A reference is the distance of its object from the end.
type flatWriter struct{ b []byte }

// prepend writes bytes so that they begin at a multiple of align, counted from the end, and returns where.
func (f *flatWriter) prepend(align int, b []byte) (at int) {
	padding := (align - (len(f.b)+len(b))%align) % align
	f.b = slices.Concat(b, make([]byte, padding), f.b)
	return len(f.b)
}

// string writes a text.
func (f *flatWriter) string(s string) (at int) {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(s)))
	return f.prepend(4, append(append(b, s...), 0))
}

// structs writes a vector of n structs that must begin at a multiple of 8.
func (f *flatWriter) structs(n int, b []byte) (at int) {
	f.prepend(8, b)
	return f.prepend(4, binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

// tables writes a vector of references.
func (f *flatWriter) tables(refs []int) (at int) {
	f.prepend(4, nil)
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(refs)))
	for i, ref := range refs {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f.b)+4*(len(refs)-i)-ref))
	}
	return f.prepend(4, b)
}

// flatField is a field of a table: an integer of some bytes, or a reference. The zero value is a field that the
// table does not have.
type flatField struct {
	value int64
	bytes int
	ref   bool
}

func flatInt(value int64, bytes int) flatField { return flatField{value, bytes, false} }
func flatRef(at int) flatField                 { return flatField{int64(at), 4, true} }

// table writes a table with its fields in the order of the schema.
func (f *flatWriter) table(fields ...flatField) (at int) {
	offsets, size := make([]int, len(fields)), 4 // behind the distance of the list of offsets
	for i, x := range fields {
		if x.bytes > 0 {
			size = (size + x.bytes - 1) / x.bytes * x.bytes
			offsets[i], size = size, size+x.bytes
		}
	}
	start := (len(f.b) + size + 7) / 8 * 8
	b := make([]byte, start-len(f.b))
	list := binary.LittleEndian.AppendUint16(nil, uint16(4+2*len(fields)))
	list = binary.LittleEndian.AppendUint16(list, uint16(size))
	for i, x := range fields {
		list = binary.LittleEndian.AppendUint16(list, uint16(offsets[i]))
		v := x.value
		if x.ref {
			v = int64(start-offsets[i]) - v
		}
		for k := range x.bytes {
			b[offsets[i]+k] = byte(v >> (8 * k))
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(len(list)))
	f.b = slices.Concat(list, b, f.b)
	return start
}

// finish returns the bytes, of which there is a multiple of 8.
func (f *flatWriter) finish(root int) []byte {
	total := (len(f.b) + 4 + 7) / 8 * 8
	b := make([]byte, total-len(f.b))
	binary.LittleEndian.PutUint32(b, uint32(total-root))
	return append(b, f.b...)
}
