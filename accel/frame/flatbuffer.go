package frame

import "encoding/binary"

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
