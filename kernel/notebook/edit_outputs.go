package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// EditOutputs replaces the outputs of cells in the text of a notebook. outputs has them by the index of the cell. All
// other bytes stay: ids, metadata, execution counts, the sources, and the bytes of outputs that are equal to the new ones.
// New outputs get the indentation of the file. The error is a *FormatError.
func EditOutputs(text []byte, outputs map[int][]Output) ([]byte, error) {
	n, err := Parse(text)
	if err != nil {
		return nil, err
	}
	escape := isASCII(text) && escapedCharacter.Match(text)
	return editCells(text, "outputs", outputs, "has no outputs: save the notebook with Jupyter", func(cell int, p place, list []Output) ([]byte, error) {
		encoded, err := replaceOutputs(text, p, n.Cells[cell], list)
		if escape {
			encoded = escaped(encoded)
		}
		return encoded, err
	})
}

// EditCounts sets the execution counts of cells that have none, by the index of the cell, and of their results that have
// none. All other bytes stay. The error is a *FormatError.
func EditCounts(text []byte, counts map[int]int) ([]byte, error) {
	n, err := Parse(text)
	if err != nil {
		return nil, err
	}
	places, err := placesOf(text, "execution_count")
	if err != nil {
		return nil, &FormatError{err}
	}
	present, absent, results := map[int]int{}, map[int]int{}, map[int][]Output{}
	for i, count := range counts {
		switch {
		case n.Cells[i].Count > 0:
			continue
		case places[i].end > 0:
			present[i] = count
		default:
			absent[i] = count
		}
		for _, o := range n.Cells[i].Outputs {
			if o["output_type"] == "execute_result" && o["execution_count"] == nil {
				results[i] = n.Cells[i].Outputs
			}
		}
	}
	text, err = editCells(text, "execution_count", present, "has no execution count", func(_ int, _ place, count int) ([]byte, error) {
		return strconv.AppendInt(nil, int64(count), 10), nil
	})
	if err != nil {
		return nil, err
	}
	before := text
	text, err = editCells(text, "outputs", absent, "has no outputs", func(_ int, p place, count int) ([]byte, error) {
		end := " "
		if prefix, unit := indentation(before, p); unit != "" {
			end = "\n" + prefix
		}
		return fmt.Appendf(bytes.Clone(before[p.start:p.end]), ",%s\"execution_count\": %d", end, count), nil
	})
	if err != nil || len(results) == 0 {
		return text, err
	}
	return editResults(text, results)
}

// editResults writes the outputs of cells, whose results get the execution count of the cell.
func editResults(text []byte, outputs map[int][]Output) ([]byte, error) {
	n, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return editCells(text, "outputs", outputs, "has no outputs", func(cell int, p place, _ []Output) ([]byte, error) {
		places, err := placesInArray(text, p)
		if err != nil {
			return nil, err
		}
		b := bytes.Clone(text[p.start:p.end])
		for i := len(places) - 1; i >= 0; i-- { // from the end, so that offsets before stay
			at := places[i]
			if at.end == 0 || string(text[at.start:at.end]) != "null" {
				continue
			}
			b = slices.Concat(b[:at.start-p.start], strconv.AppendInt(nil, int64(n.Cells[cell].Count), 10), b[at.end-p.start:])
		}
		return b, nil
	})
}

// placesInArray returns the places of the execution counts of the outputs at p.
func placesInArray(text []byte, p place) ([]place, error) {
	w := &walker{start: p.start, d: json.NewDecoder(bytes.NewReader(text[p.start:p.end]))}
	var places []place
	err := w.array(func() error {
		var at place
		err := w.object(func(key string) error {
			value, err := w.skip()
			if key == "execution_count" {
				at = value
			}
			return err
		})
		places = append(places, at)
		return err
	})
	return places, err
}

// replaceOutputs returns the JSON of the outputs of c at p.
func replaceOutputs(text []byte, p place, c *Cell, outputs []Output) ([]byte, error) {
	var old []json.RawMessage
	if err := json.Unmarshal(text[p.start:p.end], &old); err != nil {
		return nil, err
	}
	prefix, unit := indentation(text, p)
	var b bytes.Buffer
	b.WriteByte('[')
	for i, o := range outputs {
		if i > 0 {
			b.WriteByte(',')
		}
		if unit == "" && i > 0 {
			b.WriteByte(' ')
		} else if unit != "" {
			b.WriteString("\n" + prefix + unit)
		}
		if i < len(old) && i < len(c.Outputs) && Equal([]Output{c.Outputs[i]}, []Output{o}) {
			b.Write(old[i])
			continue
		}
		encoded, err := o.encodeIn(c, prefix+unit, unit)
		if err != nil {
			return nil, err
		}
		b.Write(encoded)
	}
	if unit != "" && len(outputs) > 0 {
		b.WriteString("\n" + prefix)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// encodeIn returns the JSON of an output of c with an indentation. A result has the execution count of the cell.
func (o Output) encodeIn(c *Cell, prefix, unit string) ([]byte, error) {
	fields := o.encode()
	if _, counted := fields["execution_count"]; counted {
		fields["execution_count"] = nil
		if c.Count > 0 {
			fields["execution_count"] = c.Count
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if unit != "" {
		e.SetIndent(prefix, unit)
	}
	err := e.Encode(fields)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// indentation returns the indentation of the line of a value that belongs to a cell, and that of one level. Both are
// empty if the key of the value is not the first in its line.
func indentation(text []byte, p place) (prefix, unit string) {
	line := text[bytes.LastIndexByte(text[:p.start], '\n')+1 : p.start]
	key := bytes.TrimLeft(line, " \t")
	if !bytes.HasPrefix(key, []byte(`"outputs"`)) || len(key) == len(line) {
		return "", ""
	}
	prefix = string(line[:len(line)-len(key)])
	const level = 3 // of a key of a cell in an array in an object
	return prefix, prefix[:max(1, len(prefix)/level)]
}

// escaped replaces all characters beyond ASCII by escapes.
func escaped(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		for _, half := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, half)
		}
	}
	return out
}

// Equal reports whether two lists of outputs show the same. Execution counts do not matter, nor whether a stream is
// split into several outputs.
func Equal(a, b []Output) bool {
	x, errX := json.Marshal(Joined(a))
	y, errY := json.Marshal(Joined(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Joined returns outputs with texts as single strings, adjacent outputs of a stream as one, and without execution
// counts.
func Joined(outputs []Output) []Output {
	var joined []Output
	for _, o := range outputs {
		fields := Output{}
		for key, value := range o {
			switch data, ok := value.(map[string]any); {
			case key == "execution_count":
			case key == "text":
				fields[key] = JoinedText(value)
			case key == "data" && ok:
				whole := map[string]any{}
				for mime, v := range data {
					whole[mime] = JoinedText(v)
				}
				fields[key] = whole
			default:
				fields[key] = value
			}
		}
		if n := len(joined); n > 0 && fields["output_type"] == "stream" && joined[n-1]["output_type"] == "stream" && joined[n-1]["name"] == fields["name"] {
			first, _ := joined[n-1]["text"].(string)
			second, _ := fields["text"].(string)
			joined[n-1]["text"] = first + second
			continue
		}
		joined = append(joined, fields)
	}
	return joined
}

// JoinedText joins a text that a notebook stores as a list of lines. Other values stay.
func JoinedText(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	var b strings.Builder
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return value
		}
		b.WriteString(s)
	}
	return b.String()
}
