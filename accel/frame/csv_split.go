package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unsafe"
)

// chunkSize is about how many bytes of a file with short records are parsed at once, so that the places of their fields
// stay in the cache.
const chunkSize = 1 << 18

// chunks returns offsets that divide the records of data from an offset on into chunks of about size bytes, and for each
// chunk the largest number of records that it can have. A line break within quotes does not end a record; whether an offset is within quotes is
// known from the number of quotation marks before it.
func chunks(data []byte, from, size int) (bounds, most []int) {
	n := (len(data) - from + size - 1) / size
	odd := make([]bool, n) // whether a chunk of equal length has an odd number of quotation marks
	_ = parallel(n, func(_, k int) error {
		start := from + k*size
		odd[k] = bytes.Count(data[start:min(start+size, len(data))], []byte{'"'})%2 == 1
		return nil
	})
	bounds = []int{from}
	quoted := false
	for k := 1; k < n; k++ {
		quoted = quoted != odd[k-1]
		start := from + k*size
		if start < bounds[len(bounds)-1] {
			continue // within the record that ends there
		}
		end := start + recordEnd(data[start:], quoted)
		if end == len(data) {
			break // so do the records that all later offsets are in
		}
		bounds = append(bounds, end)
	}
	bounds = append(bounds, len(data))
	most = make([]int, len(bounds)-1)
	_ = parallel(len(most), func(_, k int) error {
		chunk := data[bounds[k]:bounds[k+1]]
		most[k] = bytes.Count(chunk, []byte{'\n'})
		if len(chunk) > 0 && chunk[len(chunk)-1] != '\n' {
			most[k]++
		}
		return nil
	})
	return bounds, most
}

// firstRecord returns the length of the first record, with the line break at its end.
func firstRecord(data []byte) int { return recordEnd(data, false) }

// recordEnd returns where the record ends that data begins in.
func recordEnd(data []byte, quoted bool) int {
	for i, b := range data {
		switch {
		case b == '"':
			quoted = !quoted
		case b == '\n' && !quoted:
			return i + 1
		}
	}
	return len(data)
}

// records are the places of the fields in a few records.
type records struct {
	data   []byte
	width  int // fields in a record
	fields []place
	starts []int32 // of records
}

// place is where a field is, without its quotation marks and the space around it.
type place struct {
	from, to uint32
}

// Flags in place.to, for fields with quotation marks, and with doubled ones within.
const (
	quotedField  = 1 << 31
	escapedField = 1 << 30
)

// fieldError is a *FileError without its line.
type fieldError struct {
	offset            int
	column, want, got string
}

func (e *fieldError) Error() string { return e.want + ", got " + e.got }

// len returns the number of records.
func (r *records) len() int { return len(r.starts) }

// text returns field k of record i.
func (r *records) text(i, k int) string {
	p := r.fields[i*r.width+k]
	b := r.bytes(p)
	if p.to&escapedField != 0 {
		return strings.ReplaceAll(string(b), `""`, `"`)
	}
	return unsafe.String(unsafe.SliceData(b), len(b)) // the data are never modified
}

func (r *records) bytes(p place) []byte { return r.data[p.from : p.to&^(quotedField|escapedField)] }

// split finds the fields of the records in data, which have width fields each; 0 means as many
// as the first one.
func (r *records) split(data []byte, separator byte, width int) error {
	if len(data) >= 1<<30 {
		return &fieldError{want: "records of less than 1 GiB", got: "a longer one: is a quotation mark not closed?"}
	}
	r.data, r.width, r.fields, r.starts = data, width, r.fields[:0], r.starts[:0]
	next := newSpecials(data, separator)
	for i := 0; i < len(data); {
		if i = skipEmptyLines(data, i, separator); i >= len(data) {
			break
		}
		next.seek(i)
		start, before := i, len(r.fields)
		for {
			end := next.find()
			p := place{uint32(i), uint32(end)}
			if end < len(data) && data[end] == '"' {
				var err error
				if p, end, err = quoted(data, i, end, separator); err != nil {
					return err
				}
				next.seek(end + 1)
			} else {
				for p.to > p.from && isSpace(data[p.to-1]) {
					p.to--
				}
				for p.from < p.to && isSpace(data[p.from]) {
					p.from++
				}
			}
			r.fields = append(r.fields, p)
			i = end + 1
			if end >= len(data) || data[end] == '\n' {
				break
			}
		}
		n := len(r.fields) - before
		if r.width == 0 {
			r.width = n
		}
		if n != r.width {
			return &fieldError{offset: start, want: fmt.Sprintf("%d fields, as in the first line", r.width), got: fmt.Sprint(n)}
		}
		r.starts = append(r.starts, int32(start))
	}
	return nil
}

// skipEmptyLines returns the offset of the first line from i on that has more than space.
func skipEmptyLines(data []byte, i int, separator byte) int {
	for j := i; ; j++ {
		switch {
		case j >= len(data):
			return len(data)
		case data[j] == '\n':
			i = j + 1
		case data[j] == separator || data[j] != ' ' && data[j] != '\t' && data[j] != '\r':
			return i
		}
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' }

// quoted finds the field that begins at from and whose first quotation mark is at i, and the separator or line break
// that ends it.
func quoted(data []byte, from, i int, separator byte) (place, int, error) {
	if len(bytes.TrimLeft(data[from:i], " \t")) > 0 {
		return place{}, 0, &fieldError{offset: from, want: "a field in quotation marks, with those within it doubled", got: fmt.Sprintf("a quotation mark within the field %s", excerpt(data[from:]))}
	}
	p := place{from: uint32(i + 1)}
	flags := uint32(quotedField)
	for i++; ; i++ {
		end := bytes.IndexByte(data[i:], '"')
		if end < 0 {
			return place{}, 0, &fieldError{offset: from, want: "a quotation mark at the end of the field", got: excerpt(data[from:])}
		}
		i += end
		if i+1 < len(data) && data[i+1] == '"' {
			flags |= escapedField
			i++
			continue
		}
		break
	}
	p.to = uint32(i) | flags
	for i++; i < len(data) && isSpace(data[i]) && data[i] != separator; i++ {
	}
	if i < len(data) && data[i] != separator && data[i] != '\n' {
		return place{}, 0, &fieldError{offset: from, want: "a separator after the field in quotation marks, and those within it doubled", got: excerpt(data[from:])}
	}
	return p, i, nil
}

// excerpt quotes the start of a text.
func excerpt(b []byte) string {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	if len(b) > 40 {
		return fmt.Sprintf("%q…", b[:40])
	}
	return fmt.Sprintf("%q", b)
}

// specials finds the separators, quotation marks and line breaks in data, one after the other. It compares 64 bytes at
// once, since a loop over the bytes takes longer than parsing the values.
type specials struct {
	data      []byte
	separator uint64 // in all eight bytes
	block     int    // offset of the 64 bytes that found refers to
	found     uint64 // bit i is set if data[block+i] is special and was not returned
}

const everyByte = 0x0101010101010101

func newSpecials(data []byte, separator byte) specials {
	s := specials{data: data, separator: everyByte * uint64(separator)}
	s.load()
	return s
}

// seek continues the search at offset i. The offset is not before the last one found.
func (s *specials) seek(i int) {
	if i >= s.block+64 {
		s.block = i &^ 63
		s.load()
	}
	if i > s.block {
		s.found &= ^uint64(0) << (i - s.block)
	}
}

// find returns the offset of the next special byte, or the length of the data.
func (s *specials) find() int {
	for s.found == 0 {
		if s.block+64 >= len(s.data) {
			return len(s.data)
		}
		s.block += 64
		s.load()
	}
	i := s.block + bits.TrailingZeros64(s.found)
	s.found &= s.found - 1
	return i
}

// load compares the bytes of the block.
func (s *specials) load() {
	var block *[64]byte
	if s.block+64 <= len(s.data) {
		block = (*[64]byte)(s.data[s.block:])
	} else {
		block = new([64]byte) // zeros are not special
		copy(block[:], s.data[min(s.block, len(s.data)):])
	}
	s.found = 0
	for k := 56; k >= 0; k -= 8 {
		w := binary.LittleEndian.Uint64(block[k:])
		// The highest bit of each byte says whether it differs: from the separator, a quotation mark and a line break.
		differs := nonzeroBytes(w^s.separator) & nonzeroBytes(w^everyByte*'"') & nonzeroBytes(w^everyByte*'\n')
		// The product moves bit 8i+7 to bit 56+i.
		s.found = s.found<<8 | (^differs&(everyByte<<7)>>7*0x0102040810204080)>>56
	}
}

// nonzeroBytes sets the highest bit of each byte that is not zero; the other bits have no meaning.
func nonzeroBytes(w uint64) uint64 { return w&(everyByte*0x7f) + everyByte*0x7f | w }
