package frame

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// csvFile is a CSV file in memory.
type csvFile struct {
	data      []byte
	body      int // offset of the first line of values
	separator byte
	names     []string
	columns   []csvColumn // those to read
	missing   *missingSet
	comma     bool
}

// csvColumn is a column to read.
type csvColumn struct {
	name   string
	field  int         // its place in a line
	forced *forcedType // nil if the values decide
}

func newCSVFile(data []byte, format *csvFormat) (*csvFile, error) {
	if kind := foreign(data); kind != "" {
		return nil, &FileError{Format: "CSV", Want: "text", Got: kind}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte{'\r'}, []byte{'\n'})
	}
	f := &csvFile{data: data, separator: format.separator, missing: newMissingSet(format.missing), comma: format.comma}
	for f.body < len(data) && (data[f.body] == '\n' || data[f.body] == '\r') {
		f.body++
	}
	start := f.body
	line := firstRecord(data[start:])
	if f.separator == 0 {
		f.separator = detectSeparator(data[start : start+line])
	}
	if len(bytes.TrimSpace(data)) == 0 {
		if format.noHeader && len(format.names) > 0 {
			f.names = format.names
			return f, f.choose(format)
		}
		return nil, &FileError{Format: "CSV", Want: "a first line with the names of the columns", Got: "nothing"}
	}
	var first records
	if err := first.split(data[start:start+line], f.separator, 0); err != nil {
		return nil, f.at(err, start)
	}
	if format.noHeader {
		f.names = slices.Clone(format.names)
		if len(f.names) > 0 && len(f.names) != first.width {
			return nil, &FileError{Format: "CSV", Line: f.line(start), Want: fmt.Sprintf("%d fields, as many as NoHeader names", len(f.names)), Got: fmt.Sprint(first.width)}
		}
		for i := len(f.names); i < first.width; i++ {
			f.names = append(f.names, fmt.Sprintf("column %d", i+1))
		}
	} else {
		seen := make(map[string]bool, first.width)
		for i := range first.width {
			name := first.text(first.field(0, i))
			if name == "" {
				name = fmt.Sprintf("column %d", i+1)
			}
			if !utf8.ValidString(name) {
				return nil, &FileError{Format: "CSV", Line: f.line(start), Want: "text in UTF-8", Got: fmt.Sprintf("%q", name)}
			}
			if seen[name] {
				return nil, &FileError{Format: "CSV", Line: f.line(start), Want: "another name for each column", Got: fmt.Sprintf("%q twice", name)}
			}
			name = strings.Clone(name)
			seen[name] = true
			f.names = append(f.names, name)
		}
		f.body = start + line
	}
	return f, f.choose(format)
}

// choose sets the columns to read.
func (f *csvFile) choose(format *csvFormat) error {
	if _, err := chooseColumns(f.names, slices.Sorted(maps.Keys(format.forced))); err != nil {
		return err
	}
	chosen, err := chooseColumns(f.names, format.only)
	for _, i := range chosen {
		c := csvColumn{name: f.names[i], field: i, forced: format.others}
		if forced, ok := format.forced[c.name]; ok {
			c.forced = &forced
		}
		f.columns = append(f.columns, c)
	}
	return err
}

// detectSeparator chooses the separator by the first line.
func detectSeparator(line []byte) byte {
	var counts [256]int
	quoted := false
	for _, b := range line {
		if b == '"' {
			quoted = !quoted
		}
		if !quoted {
			counts[b]++
		}
	}
	best := byte(',')
	if counts[','] == 0 {
		for _, s := range []byte{';', '\t', '|'} {
			if counts[s] > counts[best] {
				best = s
			}
		}
	}
	return best
}

// line returns the number, from 1, of the line that contains an offset.
func (f *csvFile) line(offset int) int { return 1 + bytes.Count(f.data[:offset], []byte{'\n'}) }

// at adds the line to an error about records that begin at an offset.
func (f *csvFile) at(err error, offset int) error {
	if e, ok := errors.AsType[*fieldError](err); ok {
		return &FileError{Format: "CSV", Line: f.line(offset + e.offset), Column: e.column, Want: e.want, Got: e.got}
	}
	return err
}

// read reads the chunks of the file in parallel, and then those again in which a column has a type
// that does not contain what other chunks have.
func (f *csvFile) read() (*Frame, error) {
	// A chunk of several records, however long they are: each column of a chunk takes memory beside its values.
	bounds, most := chunks(f.data, f.body, max(chunkSize, 16*firstRecord(f.data[f.body:])))
	parts := make([]part, len(bounds)-1)
	asText := make([]bool, len(f.columns))
	if err := f.parse(&parts[0], bounds[0], bounds[1], asText, nil); err != nil {
		return nil, err
	}
	whole := newWhole(&parts[0], most)
	err := parallel(len(parts)-1, func(_, k int) error {
		k++
		return f.parse(&parts[k], bounds[k], bounds[k+1], asText, whole.chunk(k))
	})
	if err != nil {
		return nil, err
	}
	kinds := make([]Type, len(f.columns))
	again := make([]bool, len(parts))
	for c := range f.columns {
		kinds[c] = commonKind(parts, c)
		for k := range parts {
			if kinds[c] == Text && parts[k].columns[c].kind != Text {
				asText[c], again[k] = true, true
			}
		}
	}
	mixed := f.reasons(parts, bounds, kinds)
	err = parallel(len(parts), func(_, k int) error {
		if !again[k] {
			return nil
		}
		return f.parse(&parts[k], bounds[k], bounds[k+1], asText, whole.chunk(k))
	})
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, p := range parts {
		rows += p.rows
	}
	columns := make([]Column, len(f.columns))
	err = parallel(len(columns), func(_, c int) error {
		columns[c] = Column{name: f.columns[c].name, cells: gatherParts(parts, c, kinds[c], rows, whole.column(parts, c, rows)), mixed: mixed[c]}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return build(columns, rows), nil
}

// parallel calls f for each item on all cores, and returns the error of the first item that has one.
func parallel(items int, f func(worker, item int) error) error {
	errs := make([]error, items)
	var next atomic.Int64
	work := func(worker int) {
		for k := int(next.Add(1)) - 1; k < items; k = int(next.Add(1)) - 1 {
			errs[k] = f(worker, k)
		}
	}
	var others sync.WaitGroup
	for w := 1; w < min(items, runtime.GOMAXPROCS(0)); w++ {
		others.Go(func() { work(w) })
	}
	work(0)
	others.Wait()
	return cmp.Or(errs...)
}

// wholeColumns has the columns of a file while its chunks are parsed, so that the chunks need not be copied. It is nil for a
// file of one chunk. The types of the columns are those of the first chunk; the chunks in which a column has another type
// have cells of their own, and then the column is gathered from them.
type wholeColumns struct {
	columns []cells
	starts  []int // of the chunks; the last element is the number of all rows
}

// newWhole makes columns for chunks with at most so many rows, of which the first one has been parsed.
func newWhole(first *part, most []int) *wholeColumns {
	if len(most) == 1 || first.rows != most[0] {
		return nil // one with line breaks in quotes or empty lines, so the rows of the chunks would not be next to each other
	}
	w := &wholeColumns{columns: make([]cells, len(first.columns)), starts: make([]int, len(most)+1)}
	for k, rows := range most {
		w.starts[k+1] = w.starts[k] + rows
	}
	_ = parallel(len(first.columns), func(_, c int) error { // each column is cleared first
		p := &first.columns[c]
		if p.kind == nothing {
			w.columns[c] = &list[float64]{values: make([]float64, w.starts[len(most)])}
			return nil
		}
		w.columns[c] = p.cells.lengthened(w.starts[len(most)])
		p.inPlace = true
		return nil
	})
	return w
}

// chunk returns the cells that belong to a chunk.
func (w *wholeColumns) chunk(k int) []cells {
	if w == nil {
		return nil
	}
	part := make([]cells, len(w.columns))
	for c, whole := range w.columns {
		part[c] = whole.slice(w.starts[k], w.starts[k+1])
	}
	return part
}

// column returns a column with its values, without the mask of missing ones, or nil if not all chunks have written theirs
// into it, or if there are gaps between them.
func (w *wholeColumns) column(parts []part, c, rows int) cells {
	if w == nil || rows != w.starts[len(parts)] || slices.ContainsFunc(parts, func(p part) bool { return !p.columns[c].inPlace }) {
		return nil
	}
	return w.columns[c]
}
