package frame

import "time"

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
	for c := range first.columns {
		p := &first.columns[c]
		if p.kind == nothing {
			w.columns[c] = &list[float64]{values: make([]float64, w.starts[len(most)])}
			continue
		}
		w.columns[c] = lengthened(p.cells, w.starts[len(most)])
		p.inPlace = true
	}
	return w
}

// lengthened returns cells of another length that begin with the values of c.
func lengthened(c cells, rows int) cells {
	switch l := c.(type) {
	case *list[float64]:
		return lengthenedList(l, rows)
	case *list[int]:
		return lengthenedList(l, rows)
	case *list[bool]:
		return lengthenedList(l, rows)
	case *list[string]:
		return lengthenedList(l, rows)
	case *list[time.Time]:
		return lengthenedList(l, rows)
	}
	panic("frame: cells of an unknown type")
}

func lengthenedList[T comparable](l *list[T], rows int) cells {
	values := make([]T, rows)
	copy(values, l.values)
	return &list[T]{values: values}
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
	if w == nil || rows != w.starts[len(parts)] {
		return nil
	}
	for _, p := range parts {
		if !p.columns[c].inPlace {
			return nil
		}
	}
	return w.columns[c]
}
