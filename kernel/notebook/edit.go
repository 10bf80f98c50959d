package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Edit replaces the sources of cells in the text of a notebook. sources has them by the index of the cell. All other
// bytes of the text stay, and so do the bytes of unchanged lines: indentation, order of keys, escapes. The error
// is a *FormatError.
func Edit(text []byte, sources map[int]string) ([]byte, error) {
	return editCells(text, "source", sources, "has no source", func(_ int, p place, source string) ([]byte, error) {
		return replaceSource(text, p, source)
	})
}

// editCells replaces the values of a key in cells, which values has by their indices, by what encode returns. missing says
// what is wrong with a cell without the key.
func editCells[T any](text []byte, key string, values map[int]T, missing string, encode func(cell int, p place, value T) ([]byte, error)) ([]byte, error) {
	places, err := placesOf(text, key)
	if err != nil {
		return nil, &FormatError{err}
	}
	var out bytes.Buffer
	at := 0
	for i, p := range places {
		value, ok := values[i]
		if !ok {
			continue
		}
		if p.end == 0 {
			return nil, &FormatError{fmt.Errorf("cell %d %s", i+1, missing)}
		}
		encoded, err := encode(i, p, value)
		if err != nil {
			return nil, &FormatError{fmt.Errorf("cell %d: %w", i+1, err)}
		}
		out.Write(text[at:p.start])
		out.Write(encoded)
		at = p.end
	}
	out.Write(text[at:])
	return out.Bytes(), nil
}

// A place is a value in the text of a notebook.
type place struct{ start, end int }

// placesOf returns the places of the values of a key in all cells. Of duplicate keys the last one counts, as for
// Parse. A cell without the key has none.
func placesOf(text []byte, wanted string) ([]place, error) {
	start := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	w := &walker{start: start, d: json.NewDecoder(bytes.NewReader(text[start:]))}
	var places []place
	err := w.object(func(key string) error {
		if key != "cells" {
			_, err := w.skip()
			return err
		}
		places = nil
		return w.array(func() error {
			var p place
			err := w.object(func(key string) (err error) {
				if key == wanted {
					p, err = w.skip()
					return err
				}
				_, err = w.skip()
				return err
			})
			places = append(places, p)
			return err
		})
	})
	return places, err
}

// A walker reads JSON and knows where it is.
type walker struct {
	start int // of the JSON in the text
	d     *json.Decoder
}

// skip returns the place of the next value.
func (w *walker) skip() (place, error) {
	var raw json.RawMessage
	if err := w.d.Decode(&raw); err != nil {
		return place{}, err
	}
	end := w.start + int(w.d.InputOffset())
	return place{end - len(raw), end}, nil
}

// object calls value for each key of an object; value has to read the value. null has no keys.
func (w *walker) object(value func(key string) error) error {
	return w.compound('{', func() error {
		key, err := w.d.Token()
		if err != nil {
			return err
		}
		return value(key.(string)) // the decoder has checked that
	})
}

// array calls element for each element of an array; element has to read it.
func (w *walker) array(element func() error) error { return w.compound('[', element) }

func (w *walker) compound(open json.Delim, part func() error) error {
	switch token, err := w.d.Token(); {
	case err != nil:
		return err
	case token == nil:
		return nil
	case token != open:
		return fmt.Errorf("%v instead of %v", token, open)
	}
	for w.d.More() {
		if err := part(); err != nil {
			return err
		}
	}
	_, err := w.d.Token()
	return err
}

// Line returns the line of the text of a notebook that has a line of the source of a cell, or 0 if there is none. The
// cell is an index; lines count from 1.
func Line(text []byte, cell, line int) int {
	places, err := placesOf(text, "source")
	if err != nil || cell >= len(places) || places[cell].end == 0 {
		return 0
	}
	p := places[cell]
	start := p.start
	if text[p.start] == '[' {
		w := &walker{d: json.NewDecoder(bytes.NewReader(text[p.start:p.end]))}
		count := 0
		_ = w.array(func() error { // the text has been decoded before
			element, err := w.skip()
			if count++; count <= max(line, 1) {
				start = p.start + element.start
			}
			return err
		})
	}
	return 1 + bytes.Count(text[:start], []byte("\n"))
}

// replaceSource returns the JSON of a source in the form that it has at p: as a string, or as a list of lines with the
// same separators.
func replaceSource(text []byte, p place, source string) ([]byte, error) {
	old := text[p.start:p.end]
	escape := isASCII(text) && escapedCharacter.Match(text)
	if old[0] == '"' {
		return quote(source, escape), nil
	}
	if old[0] != '[' {
		return nil, errors.New("a text is neither a string nor a list of strings")
	}
	w := &walker{d: json.NewDecoder(bytes.NewReader(old))}
	var elements []place
	kept := map[string][]byte{} // the JSON of the lines
	err := w.array(func() error {
		element, err := w.skip()
		if err != nil {
			return err
		}
		var line string
		if err := json.Unmarshal(old[element.start:element.end], &line); err != nil {
			return err
		}
		elements = append(elements, element)
		kept[line] = old[element.start:element.end]
		return nil
	})
	if err != nil {
		return nil, err
	}
	begin, between, end := []byte("["), []byte(", "), []byte("]")
	if n := len(elements); n > 0 {
		begin, end = old[:elements[0].start], old[elements[n-1].end:]
		between = append([]byte(","), begin[1:]...) // a list on one line may have spaces
		if n > 1 {
			between = old[elements[0].end:elements[1].start]
		}
	}
	var b bytes.Buffer
	b.Write(begin)
	for i, line := range lines(source) {
		if i > 0 {
			b.Write(between)
		}
		if same, ok := kept[line]; ok {
			b.Write(same)
		} else {
			b.Write(quote(line, escape))
		}
	}
	b.Write(end)
	return b.Bytes(), nil
}

// quote returns a string as JSON with as few escapes as possible, as Jupyter writes it; if ascii is set, with escapes for
// all other characters.
func quote(s string, ascii bool) []byte {
	b := []byte{'"'}
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < ' ':
			b = fmt.Appendf(b, `\u%04x`, r)
		case ascii && r >= utf8.RuneSelf:
			for _, half := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, `\u%04x`, half)
			}
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// escapedCharacter matches the escape of a character beyond ASCII.
var escapedCharacter = regexp.MustCompile(`\\u(00[89a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])`)

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
