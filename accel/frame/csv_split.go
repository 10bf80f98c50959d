package frame

import (
	"bytes"
	"fmt"
	"math"
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
	odd := make([]bool, n)    // whether a piece of equal length has an odd number of quotation marks
	lines := make([]int, n+1) // line breaks before each piece
	_ = parallel(n, func(_, k int) error {
		start := from + k*size
		piece := data[start:min(start+size, len(data))]
		odd[k] = bytes.Count(piece, []byte{'"'})%2 == 1
		lines[k+1] = bytes.Count(piece, []byte{'\n'})
		return nil
	})
	for k := range n {
		lines[k+1] += lines[k]
	}
	bounds = []int{from}
	quoted, before := false, 0 // line breaks before the last of bounds
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
		count := lines[k] + bytes.Count(data[start:end], []byte{'\n'})
		bounds, most, before = append(bounds, end), append(most, count-before), count
	}
	count := lines[n]
	if n > 0 && data[len(data)-1] != '\n' {
		count++
	}
	return append(bounds, len(data)), append(most, count-before)
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
	data  []byte
	width int // fields in a record
	// The offset before the first field, and those of the separator or line break after each field. What is between two of
	// them is a field with its quotation marks, the space around it, and empty lines before it.
	places  []uint32
	doubled bool // whether there are quotation marks within quoted fields
	specials
}

// fieldError is a *FileError without its line.
type fieldError struct {
	offset            int
	column, want, got string
}

func (e *fieldError) Error() string { return e.want + ", got " + e.got }

// len returns the number of records.
func (r *records) len() int { return (len(r.places) - 1) / max(r.width, 1) }

// start returns the offset of record i.
func (r *records) start(i int) int {
	return skipEmptyLines(r.data, int(r.places[i*r.width]+1), r.separator)
}

// field returns the content of field k of record i, in which quotation marks are doubled if it is quoted.
func (r *records) field(i, k int) (b []byte, quoted bool) {
	at := i*r.width + k
	b = r.data[r.places[at]+1 : r.places[at+1]]
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	for len(b) > 0 && (isSpace(b[0]) || b[0] == '\n') {
		b = b[1:]
	}
	if len(b) > 0 && b[0] == '"' {
		return b[1 : len(b)-1], true
	}
	return b, false
}

// text returns the content of a field as text.
func (r *records) text(b []byte, quoted bool) string {
	if quoted && r.doubled && bytes.IndexByte(b, '"') >= 0 {
		return strings.ReplaceAll(string(b), `""`, `"`)
	}
	return unsafe.String(unsafe.SliceData(b), len(b)) // the data are never modified
}

// split finds the fields of the records in data, which have width fields each; 0 means as many
// as the first one.
func (r *records) split(data []byte, separator byte, width int) error {
	if len(data) >= 1<<30 {
		return &fieldError{want: "records of less than 1 GiB", got: "a longer one: is a quotation mark not closed?"}
	}
	r.data, r.width, r.doubled = data, width, false
	r.search(data, separator)
	if r.regular() {
		return nil
	}
	places := append(r.places[:0], noPlace)
	for i := 0; i < len(data); i++ {
		if data[i] <= ' ' {
			if i = skipEmptyLines(data, i, separator); i == len(data) {
				break
			}
			r.seek(i)
		}
		start, before := i, len(places)
		for {
			end := r.find()
			if end < len(data) && data[end] == '"' {
				var err error
				if end, err = r.quoted(i, end); err != nil {
					return err
				}
				r.seek(end)
				end = r.find()
			}
			places = append(places, uint32(end))
			i = end
			if end == len(data) || data[end] == '\n' {
				break
			}
			i++
		}
		n := len(places) - before
		if r.width == 0 {
			r.width = n
		}
		if n != r.width {
			return &fieldError{offset: start, want: fmt.Sprintf("%d fields, as in the first line", r.width), got: fmt.Sprint(n)}
		}
	}
	r.places = places
	return nil
}

// noPlace is the offset before the data.
const noPlace = math.MaxUint32

// regular finds the fields if the number in a record is known and there are neither quotation marks nor empty lines, and
// otherwise returns false.
func (r *records) regular() bool {
	if r.width == 0 || len(r.data) == 0 || bytes.IndexByte(r.data, '"') >= 0 {
		return false
	}
	r.places = r.all(append(r.places[:0], noPlace))
	if r.data[len(r.data)-1] == '\n' {
		r.places = r.places[:len(r.places)-1] // of the length of the data
	}
	lines := 0
	for at := r.width; at < len(r.places); at += r.width {
		end := r.places[at]
		if int(end) < len(r.data) && r.data[end] != '\n' || r.width == 1 && r.data[r.places[at-1]+1] <= ' ' {
			return false
		}
		lines++
	}
	return lines*r.width == len(r.places)-1 && lines == lineCount(r.data)
}

// lineCount returns the number of lines, of which the last one may have no line break.
func lineCount(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
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

// quoted returns the offset of the separator or line break after the field that begins at from and whose first quotation
// mark is at i.
func (r *records) quoted(from, i int) (int, error) {
	data, separator := r.data, r.separator
	if len(bytes.TrimLeft(data[from:i], " \t")) > 0 {
		return 0, &fieldError{offset: from, want: "a field in quotation marks, with those within it doubled", got: fmt.Sprintf("a quotation mark within the field %s", excerpt(data[from:]))}
	}
	for i++; ; i++ {
		end := bytes.IndexByte(data[i:], '"')
		if end < 0 {
			return 0, &fieldError{offset: from, want: "a quotation mark at the end of the field", got: excerpt(data[from:])}
		}
		if i += end + 1; i == len(data) || data[i] != '"' {
			break
		}
		r.doubled = true
	}
	for i < len(data) && isSpace(data[i]) && data[i] != separator {
		i++
	}
	if i < len(data) && data[i] != separator && data[i] != '\n' {
		return 0, &fieldError{offset: from, want: "a separator after the field in quotation marks, and those within it doubled", got: excerpt(data[from:])}
	}
	return i, nil
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
