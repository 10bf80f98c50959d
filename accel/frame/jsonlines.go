package frame

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// JSONLines is [ReadJSONLines] for a file.
func JSONLines(path string) (*Frame, error) { return readFile(path, ReadJSONLines) }

// ReadJSONLines reads a table of lines with one JSON object each, uncompressed or compressed with
// gzip or bzip2. A column consists of the values that the lines have for a key; null, or no such key,
// is a missing value. The values of an object within are columns with the names "outer.inner".
//
// Numbers are ints if all of a column are whole numbers in plain notation, otherwise floats. A column with
// values of two types, a list, and a key that occurs twice in an object are a [*FileError].
func ReadJSONLines(r io.Reader) (*Frame, error) {
	u, err := uncompressed(r)
	if err != nil {
		return nil, readError("JSON", err)
	}
	t := jsonTable{places: map[string]int{}}
	lines := bufio.NewReaderSize(u, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, readError("JSON", damagedData(u, err))
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
			if kind := foreign(line); kind != "" {
				return nil, &FileError{Format: "JSON lines", Want: "text", Got: kind}
			}
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if bad := t.add(line, number); bad != nil {
				bad.Format, bad.Line = "JSON lines", number
				return nil, bad
			}
		}
		if err != nil {
			return t.frame(), nil
		}
	}
}

// jsonTable collects the columns.
type jsonTable struct {
	rows    int
	columns []*jsonColumn
	places  map[string]int
}

type jsonColumn struct {
	name   string
	kind   Type
	line   int // that decided the type
	values []any
}

// add reads a line. The error lacks format and line.
func (t *jsonTable) add(line []byte, number int) *FileError {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return &FileError{Want: "a JSON object", Got: err.Error()}
	}
	if token != json.Delim('{') {
		return &FileError{Want: "a JSON object on each line", Got: excerpt(line)}
	}
	t.rows++
	if bad := t.object(d, "", number, 0); bad != nil {
		return bad
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &FileError{Want: "one JSON object", Got: "more after it"}
	}
	return nil
}

// maxNesting is the largest number of objects within each other. The name of a column has all their keys, so without
// a limit a line would take memory that is quadratic in its length.
const maxNesting = 100

// object reads the rest of an object that is within so many others.
func (t *jsonTable) object(d *json.Decoder, prefix string, number, depth int) *FileError {
	if depth > maxNesting {
		return &FileError{Want: fmt.Sprintf("at most %d objects within each other", maxNesting), Got: "more"}
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return &FileError{Want: "a key", Got: err.Error()}
		}
		name := prefix + key.(string)
		value, err := d.Token()
		if err != nil {
			return &FileError{Column: name, Want: "a value", Got: err.Error()}
		}
		if value == json.Delim('{') {
			if bad := t.object(d, name+".", number, depth+1); bad != nil {
				return bad
			}
			continue
		}
		if _, ok := value.(json.Delim); ok {
			return &FileError{Column: name, Want: "a number, text, bool, null or object", Got: "a list"}
		}
		if bad := t.set(name, value, number); bad != nil {
			return bad
		}
	}
	if _, err := d.Token(); err != nil {
		return &FileError{Want: "the end of the object", Got: err.Error()}
	}
	return nil
}

// set adds a value to a column.
func (t *jsonTable) set(name string, value any, number int) *FileError {
	k, ok := t.places[name]
	if !ok {
		k = len(t.columns)
		t.places[name] = k
		t.columns = append(t.columns, &jsonColumn{name: name, kind: nothing})
	}
	c := t.columns[k]
	if len(c.values) >= t.rows {
		return &FileError{Column: name, Want: "each key once", Got: "it twice"}
	}
	c.values = append(c.values, make([]any, t.rows-1-len(c.values))...)
	kind := nothing
	switch v := value.(type) {
	case string:
		kind = Text
	case bool:
		kind = Bool
	case json.Number:
		kind = Float
		if i, ok := parseInt([]byte(v)); ok {
			kind, value = Int, i
		} else if x, err := strconv.ParseFloat(string(v), 64); err == nil {
			value = x
		} else {
			return &FileError{Column: name, Want: "a number in the range of float64", Got: string(v)}
		}
	}
	switch {
	case kind == nothing || kind == c.kind:
	case c.kind == nothing:
		c.kind, c.line = kind, number
	case kind <= Int && c.kind <= Int:
		c.kind = Float
	default:
		return &FileError{Column: name, Want: fmt.Sprintf("%s as in line %d", c.kind, c.line), Got: excerptValue(value)}
	}
	c.values = append(c.values, value)
	return nil
}

// excerptValue is a value in an error, without the rest of a long text.
func excerptValue(value any) string {
	if s, ok := value.(string); ok && len(s) > 40 {
		return excerpt([]byte(s))
	}
	return fmt.Sprintf("%v", value)
}

func (t *jsonTable) frame() *Frame {
	columns := make([]Column, len(t.columns))
	for k, c := range t.columns {
		if c.kind == nothing {
			c.kind = Float
		}
		columns[k] = Column{name: c.name, cells: newCells(c.kind, t.rows)}
		for i := range t.rows {
			var v any // of lines behind the last one that has the key
			if i < len(c.values) {
				v = c.values[i]
			}
			switch l := columns[k].cells.(type) {
			case *list[float64]:
				if whole, ok := v.(int); ok {
					v = float64(whole)
				}
				setJSON(l, i, v)
			case *list[int]:
				setJSON(l, i, v)
			case *list[bool]:
				setJSON(l, i, v)
			case *list[string]:
				setJSON(l, i, v)
			}
		}
		c.values = nil // so that the values are not in memory twice
	}
	return build(slices.Clip(columns), t.rows)
}

func setJSON[T comparable](l *list[T], i int, value any) {
	v, ok := value.(T)
	if l.values[i] = v; !ok {
		l.setMissing(i)
	}
}
