package frame

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// part is the columns of a chunk.
type part struct {
	rows    int
	columns []partColumn
}

// partColumn is a column of a chunk.
type partColumn struct {
	kind  Type // nothing if no value is present
	cells cells
	// Of a column of text, odd is the first value that is only text, and at its offset in the chunk.
	odd   string
	at    int
	mixed bool // odd is not the first value
	// inPlace says that the cells are a part of the column of the whole file.
	inPlace bool
}

// nothing is the type of a column without values.
const nothing Type = -1

// recordPool keeps the places of fields for the next chunk.
var recordPool = sync.Pool{New: func() any { return new(records) }}

// parse reads the records from one offset to another. Columns in asText are text. The values of a column are written
// into its cells in into, if they have the right type; into may be nil.
func (f *csvFile) parse(p *part, from, to int, asText []bool, into []cells) error {
	r := recordPool.Get().(*records)
	defer func() {
		r.data = nil
		recordPool.Put(r)
	}()
	if err := r.split(f.data[from:to], f.separator, len(f.names)); err != nil {
		return f.at(err, from)
	}
	if !utf8.Valid(r.data) {
		return f.at(notUTF8(r.data), from)
	}
	p.rows, p.columns = r.len(), make([]partColumn, len(f.columns))
	for c, column := range f.columns {
		values := chunkColumn{records: r, field: column.field, file: f}
		if into != nil {
			values.into = into[c]
		}
		var err error
		if column.forced != nil {
			values.any = true
			p.columns[c], err = values.as(column.name, column.forced)
		} else {
			p.columns[c] = values.derive(asText[c])
		}
		if err != nil {
			return f.at(err, from)
		}
		p.columns[c].inPlace = into != nil && p.columns[c].kind == values.into.kind()
	}
	return nil
}

func notUTF8(data []byte) *fieldError {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return &fieldError{offset: i, want: "text in UTF-8", got: fmt.Sprintf("the byte 0x%02x: convert the file, or read it through a decoder of golang.org/x/text/encoding/charmap with ReadCSV", data[i])}
		}
		i += n
	}
	return nil
}

// chunkColumn is the values of a column in a chunk.
type chunkColumn struct {
	*records
	field int
	file  *csvFile
	into  cells // where the values are written, or nil
	any   bool  // numbers may be in any decimal notation
}

// chunkList returns a list for the values of a column, in v.into if that is of the same type.
func chunkList[T comparable](v chunkColumn) *list[T] {
	if into, ok := v.into.(*list[T]); ok {
		return &list[T]{values: into.values[:v.len()]}
	}
	return &list[T]{values: make([]T, v.len())}
}

// value returns the content of a value's field, as [records.field] does, and whether it is present.
func (v *chunkColumn) value(i int) (b []byte, quoted, present bool) {
	b, quoted = v.records.field(i, v.field)
	return b, quoted, len(b) > 0 && (quoted || !v.file.missing.has(b))
}

// derive returns the column with the type that its values have.
func (v chunkColumn) derive(asText bool) partColumn {
	if asText {
		return partColumn{kind: Text, cells: v.texts()}
	}
	first := 0
	for ; first < v.len(); first++ {
		if _, _, present := v.value(first); present {
			break
		}
	}
	if first == v.len() {
		return partColumn{kind: nothing}
	}
	b, _, _ := v.value(first)
	kind := Text
	bad := -1
	var l cells
	if _, ok := parseInt(b); ok {
		kind = Int
		if l, bad = scan(v, parseInt); bad < 0 {
			return partColumn{kind: Int, cells: l}
		}
		b, _, _ = v.value(bad)
	}
	if _, ok := v.float()(b); ok {
		kind = Float
		if l, bad = scan(v, v.float()); bad < 0 {
			return partColumn{kind: Float, cells: l}
		}
	} else if _, ok := parseBool(b); ok && kind == Text {
		kind = Bool
		if l, bad = scan(v, parseBool); bad < 0 {
			return partColumn{kind: Bool, cells: l}
		}
	} else if _, ok := parseTime(b); ok && kind == Text {
		kind = Time
		if l, bad = scan(v, parseTime); bad < 0 {
			return partColumn{kind: Time, cells: l}
		}
	}
	c := partColumn{kind: Text, cells: v.texts()}
	if kind != Text {
		c.odd, c.at, c.mixed = v.text(v.records.field(bad, v.field)), v.start(bad), true
	} else {
		c.odd, c.at = v.text(v.records.field(first, v.field)), v.start(first)
	}
	return c
}

// as returns the column with the type that the caller wants.
func (v chunkColumn) as(name string, c *forcedType) (partColumn, error) {
	var l cells
	bad := -1
	switch c.kind {
	case Float:
		l, bad = scan(v, v.float())
	case Int:
		l, bad = scan(v, parseAnyInt)
	case Bool:
		l, bad = scan(v, parseBool)
	case Text:
		l = v.texts()
	case Time:
		parse := parseTime
		if c.layout != "" {
			parse = func(b []byte) (time.Time, bool) {
				t, err := time.Parse(c.layout, string(b))
				return t, err == nil
			}
		}
		l, bad = scan(v, parse)
	default:
		return partColumn{}, fmt.Errorf("frame: column %q as %s: use Float, Int, Bool, Text or Time", name, c.kind)
	}
	want := "a value of type " + c.kind.String()
	if c.layout != "" {
		want = fmt.Sprintf("a time in the layout %q", c.layout)
	}
	if bad < 0 && c.required {
		bad, want = unusable(l)
	}
	if bad >= 0 {
		return partColumn{}, &fieldError{offset: v.start(bad), column: name, want: want, got: excerpt([]byte(v.text(v.records.field(bad, v.field))))}
	}
	return partColumn{kind: c.kind, cells: l}, nil
}

// unusable returns the first value that is missing or not finite as a float32, and what is wanted; or -1.
func unusable(l cells) (bad int, want string) {
	numbers, _ := l.(*list[float64])
	for i := range l.len() {
		if l.missing(i) {
			return i, "a value; fill it in, or leave out the line"
		}
		if numbers != nil && math.IsInf(float64(float32(numbers.values[i])), 0) {
			return i, "a finite number in the range of float32"
		}
	}
	return -1, ""
}

// scan parses the values, and returns the first record with an invalid one, or -1.
func scan[T comparable](v chunkColumn, parse func([]byte) (T, bool)) (*list[T], int) {
	l := chunkList[T](v)
	data, places, missing := v.data, v.places[v.field:], v.file.missing
	for i := range l.values {
		b := data[places[i*v.width]+1 : places[i*v.width+1]]
		if !missing.plain(b) {
			var present bool
			if b, _, present = v.value(i); !present {
				l.setMissing(i)
				continue
			}
		}
		x, ok := parse(b)
		if !ok {
			return nil, i
		}
		l.values[i] = x
	}
	return l, -1
}

// float returns the parser of numbers.
func (v chunkColumn) float() func([]byte) (float64, bool) {
	if !v.file.comma && !v.any {
		return parseFloat
	}
	return func(b []byte) (float64, bool) {
		if v.file.comma {
			if slices.Contains(b, '.') {
				return 0, false
			}
			b = bytes.Replace(b, []byte{','}, []byte{'.'}, 1)
		}
		x, ok := parseFloat(b)
		if !ok && v.any {
			return convertFloat(b)
		}
		return x, ok
	}
}

func (v chunkColumn) texts() *list[string] {
	l := chunkList[string](v)
	data, places, missing := v.data, v.places[v.field:], v.file.missing
	for i := range l.values {
		b := data[places[i*v.width]+1 : places[i*v.width+1]]
		if missing.plain(b) {
			l.values[i] = v.text(b, false)
		} else if b, quoted, present := v.value(i); present {
			l.values[i] = v.text(b, quoted)
		} else {
			l.setMissing(i)
		}
	}
	return l
}

// commonKind returns the type that contains the values of column c in all chunks.
func commonKind(parts []part, c int) Type {
	common := nothing
	for _, p := range parts {
		switch kind := p.columns[c].kind; {
		case kind == nothing || kind == common:
		case common == nothing:
			common = kind
		case (kind == Int || kind == Float) && (common == Int || common == Float):
			common = Float
		default:
			return Text
		}
	}
	if common == nothing {
		return Float // NaN
	}
	return common
}

// oddity is a value because of which a column is text although it has values of another type.
type oddity struct {
	column, offset int // of the record in the file
	value          string
}

// reasons says for each column why it is text although it also has values of another type, or "".
func (f *csvFile) reasons(parts []part, bounds []int, kinds []Type) []string {
	var odd []oddity
	for c, kind := range kinds {
		if kind != Text || f.columns[c].forced != nil {
			continue
		}
		if k := mixedPart(parts, c); k >= 0 {
			p := parts[k].columns[c]
			odd = append(odd, oddity{c, bounds[k] + p.at, p.odd})
		}
	}
	slices.SortFunc(odd, func(a, b oddity) int { return a.offset - b.offset })
	mixed := make([]string, len(kinds))
	line, counted := 1, 0
	for _, o := range odd { // each line break is counted once, however many columns there are
		line += bytes.Count(f.data[counted:o.offset], []byte{'\n'})
		counted = o.offset
		mixed[o.column] = fmt.Sprintf("line %d has %s", line, excerpt([]byte(o.value)))
	}
	return mixed
}

// mixedPart returns the first part with a value that is only text, if column c also has values of another type, or -1.
func mixedPart(parts []part, c int) int {
	k := slices.IndexFunc(parts, func(p part) bool { return p.columns[c].kind == Text })
	others := slices.ContainsFunc(parts, func(p part) bool { kind := p.columns[c].kind; return kind != Text && kind != nothing })
	if k < 0 || others {
		return k
	}
	return slices.IndexFunc(parts, func(p part) bool { return p.columns[c].kind == Text && p.columns[c].mixed })
}

// gatherParts returns the cells of column c in all chunks. If all have written their values into whole, nothing is copied.
func gatherParts(parts []part, c int, kind Type, rows int, whole cells) cells {
	switch kind {
	case Int:
		return gatherList[int](parts, c, rows, whole)
	case Bool:
		return gatherList[bool](parts, c, rows, whole)
	case Text:
		return gatherList[string](parts, c, rows, whole)
	case Time:
		return gatherList[time.Time](parts, c, rows, whole)
	}
	if whole != nil {
		return whole
	}
	all := &list[float64]{values: make([]float64, 0, rows)}
	for _, p := range parts {
		if l := p.columns[c].cells; l != nil {
			all.values = append(all.values, Column{cells: l}.Floats()...)
		} else {
			all.values = append(all.values, slices.Repeat([]float64{math.NaN()}, p.rows)...)
		}
	}
	return all
}

func gatherList[T comparable](parts []part, c, rows int, whole cells) cells {
	all, inPlace := whole.(*list[T])
	if !inPlace {
		all = &list[T]{values: make([]T, rows)}
	}
	at := 0
	for _, p := range parts {
		l, _ := p.columns[c].cells.(*list[T])
		if l != nil && !inPlace {
			copy(all.values[at:], l.values)
		}
		if l == nil || l.absent != nil {
			if all.absent == nil {
				all.absent = make([]bool, rows)
			}
			if l != nil {
				copy(all.absent[at:], l.absent)
			} else {
				copy(all.absent[at:], slices.Repeat([]bool{true}, p.rows))
			}
		}
		at += p.rows
	}
	return all
}
