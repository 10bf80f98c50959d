package frame

import (
	"encoding/binary"
	"slices"
)

// flatTable is a table in the format FlatBuffers, in which Arrow files have their metadata. Reading beyond the bytes, or a
// vector that is longer than they are, panics; the caller turns that into an error.
type flatTable struct {
	b  []byte
	at int // offset of the table
}

// rootTable returns the table that b begins with.
func rootTable(b []byte) flatTable { return flatTable{b, int(binary.LittleEndian.Uint32(b))} }

// field returns the offset of a field, numbered in the order of the schema from 0, or 0 if the table does not have it.
func (t flatTable) field(i int) int {
	v := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:]))) // the table of offsets
	if size := int(binary.LittleEndian.Uint16(t.b[v:])); 4+2*i+2 > size {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(t.b[v+4+2*i:]))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

// int returns an integer of 1, 2, 4 or 8 bytes, or its default value.
func (t flatTable) int(i, bytes int, otherwise int64) int64 {
	at := t.field(i)
	if at == 0 {
		return otherwise
	}
	switch bytes {
	case 1:
		return int64(int8(t.b[at]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(t.b[at:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(t.b[at:])))
	}
	return int64(binary.LittleEndian.Uint64(t.b[at:]))
}

// table returns a table within this one, and whether there is one.
func (t flatTable) table(i int) (flatTable, bool) {
	at := t.field(i)
	if at == 0 {
		return flatTable{}, false
	}
	return flatTable{t.b, at + int(binary.LittleEndian.Uint32(t.b[at:]))}, true
}

// vector returns the number of the elements of a vector, which have this many bytes, and the offset of the first one.
func (t flatTable) vector(i, bytes int) (n, at int) {
	if at = t.field(i); at == 0 {
		return 0, 0
	}
	at += int(binary.LittleEndian.Uint32(t.b[at:]))
	n = int(binary.LittleEndian.Uint32(t.b[at:]))
	at += 4
	_ = t.b[at : at+n*bytes]
	return n, at
}

// tables returns a vector of tables.
func (t flatTable) tables(i int) []flatTable {
	n, at := t.vector(i, 4)
	all := make([]flatTable, n)
	for k := range all {
		p := at + 4*k
		all[k] = flatTable{t.b, p + int(binary.LittleEndian.Uint32(t.b[p:]))}
	}
	return all
}

// string returns a string, or "".
func (t flatTable) string(i int) string {
	n, at := t.vector(i, 1)
	return string(t.b[at : at+n])
}

// longs returns a vector of elements that have each so many integers of 8 bytes, one after the other.
func (t flatTable) longs(i, each int) []int64 {
	n, at := t.vector(i, 8*each)
	all := make([]int64, n*each)
	for k := range all {
		all[k] = int64(binary.LittleEndian.Uint64(t.b[at+8*k:]))
	}
	return all
}

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
