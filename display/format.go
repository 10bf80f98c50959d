package display

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quernlab/quern/internal/quantity"
)

// Limits of the text of a value. A value that fits in a line is printed as one line, as fmt
// prints it; of a larger value the text shows enough to recognize it.
const (
	lineWidth  = 100      // characters
	maxLines   = 120      // of one value
	maxText    = 64 << 10 // bytes
	maxNesting = 6
)

// Format returns a value as text: what fmt prints with %+v if that fits in a line, otherwise a
// layout over several lines. Long lists, maps and matrices are truncated, with a note of how
// much is missing. Format reads no more of a value than it prints, and it terminates for values
// that point to themselves. A valid json.RawMessage is its text, and a nil one null, as in JSON.
func Format(v any) string {
	if m, ok := v.(json.RawMessage); ok {
		if text, ok := rawText(m); ok {
			return shorten(text)
		}
	}
	p := &printer{lines: maxLines}
	p.node(nodeOf(v), "", 0)
	return shorten(p.text.String())
}

// shorten truncates a text that would make a notebook slow.
func shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	return fmt.Sprintf("%s… and %d bytes more", strings.ToValidUTF8(text[:maxText], ""), len(text)-maxText)
}

type printer struct {
	text  strings.Builder
	lines int // lines left
}

// newline begins a line; it returns false if no lines are left.
func (p *printer) newline(indent string) bool {
	if p.lines--; p.lines < 0 {
		return false
	}
	p.text.WriteString("\n" + indent)
	return true
}

// node writes a value whose first line has begun; indent is for its other lines.
func (p *printer) node(n node, indent string, depth int) {
	if text, ok := oneLine(n, lineWidth-len(indent)); ok {
		p.text.WriteString(text)
		return
	}
	if depth == maxNesting {
		p.text.WriteString("…")
		return
	}
	if text, ok := n.raw(); ok {
		p.text.WriteString(shorten(text))
		return
	}
	switch n.kind() {
	case reflect.Pointer:
		if to, ok := n.target(); ok && composite(to.kind()) {
			p.text.WriteString("&")
			p.node(to, indent, depth+1)
			return
		}
	case reflect.Struct:
		p.structure(n, indent, depth)
		return
	case reflect.Map:
		p.mapping(n, indent, depth)
		return
	case reflect.Slice, reflect.Array:
		if rows, columns, ok := matrix(n); ok {
			p.matrix(n, rows, columns, indent)
			return
		}
		p.list(n, indent, depth)
		return
	case reflect.String:
		p.text.WriteString(shorten(n.value.String()))
		return
	}
	p.text.WriteString(shorten(n.line()))
}

func composite(k reflect.Kind) bool {
	return k == reflect.Struct || k == reflect.Map || k == reflect.Slice || k == reflect.Array
}

// oneLine returns the text of a value if it fits in a line of the given width.
func oneLine(n node, width int) (string, bool) {
	budget := width
	if !n.hasText() && !small(n, &budget, 0) {
		return "", false
	}
	text := n.line()
	switch {
	case n.hasText() && !composite(n.kind()):
		return shorten(text), true
	case utf8.RuneCountInString(text) > width || strings.Contains(text, "\n"):
		return shorten(text), n.hasText()
	}
	return text, true
}

// small reports whether a value may be short enough to be printed cheaply.
func small(n node, budget *int, depth int) bool {
	if *budget--; *budget < 0 || depth > maxNesting {
		return false
	}
	if n.hasText() {
		return true
	}
	switch n.kind() {
	case reflect.String:
		*budget -= n.value.Len()
	case reflect.Slice, reflect.Array:
		if n.value.Len() > *budget {
			return false
		}
		for i := range n.value.Len() {
			if !small(n.index(i), budget, depth+1) {
				return false
			}
		}
	case reflect.Map:
		if n.value.Len() > *budget {
			return false
		}
		for _, e := range n.entries() {
			if !small(e.key, budget, depth+1) || !small(e.value, budget, depth+1) {
				return false
			}
		}
	case reflect.Struct:
		for i := range n.value.NumField() {
			if _, f := n.field(i); !small(f, budget, depth+1) {
				return false
			}
		}
	case reflect.Pointer:
		if to, ok := n.target(); ok && depth == 0 {
			return small(to, budget, depth+1)
		}
	}
	return *budget >= 0
}

// Integer formats a whole number like figures and tables do, with non-breaking spaces between
// thousands from five digits on: 1845, 12 000, 200 960.
func Integer(n int) string { return quantity.Integer(n) }

// A time.Time made by time.Now also has a monotonic clock reading, which its text shows at the
// end as "m=+30.12". Readers have no use for it.

var timeType = reflect.TypeFor[time.Time]()

// withoutMonotonic returns x without that reading, if x is a time.
func withoutMonotonic(x any) any {
	if t, ok := x.(time.Time); ok {
		return t.Round(0)
	}
	return x
}

// reading matches it after the time zone, as fmt prints it inside other values.
var reading = regexp.MustCompile(`([+-]\d{4} \S+) m=[+-]\d+\.\d+`)
