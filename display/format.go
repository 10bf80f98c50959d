package display

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// The size of a text. A value that fits in a line is a line, as fmt prints it;
// of a larger one there is enough to know it by.
const (
	lineWidth  = 100      // characters
	maxLines   = 120      // of one value
	maxText    = 64 << 10 // bytes
	maxNesting = 6
)

// Format is the text of a value: what fmt prints with %+v if that fits in a
// line, else a layout over several lines. Long lists, maps and matrices are cut,
// with a word on how much there is. It never reads more of a value than it
// shows, and a value that points to itself has an end.
func Format(v any) string {
	p := &printer{lines: maxLines}
	p.node(nodeOf(v), "", 0)
	return shorten(p.text.String())
}

// shorten cuts a text that would make a notebook slow.
func shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	return fmt.Sprintf("%s… and %d bytes more", strings.ToValidUTF8(text[:maxText], ""), len(text)-maxText)
}

type printer struct {
	text  strings.Builder
	lines int // that may still be begun
}

// newline begins a line; false when there are enough.
func (p *printer) newline(indent string) bool {
	if p.lines--; p.lines < 0 {
		return false
	}
	p.text.WriteString("\n" + indent)
	return true
}

// node writes a value whose first line is begun. Indent is that of its others.
func (p *printer) node(n node, indent string, depth int) {
	if text, ok := oneLine(n, lineWidth-len(indent)); ok {
		p.text.WriteString(text)
		return
	}
	if depth == maxNesting {
		p.text.WriteString("…")
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

// oneLine is the text of a value that fits in a line of some width.
func oneLine(n node, width int) (string, bool) {
	budget := width
	if !n.speaks() && !small(n, &budget, 0) {
		return "", false
	}
	text := n.line()
	switch {
	case n.speaks() && !composite(n.kind()):
		return shorten(text), true
	case utf8.RuneCountInString(text) > width || strings.Contains(text, "\n"):
		return shorten(text), n.speaks()
	}
	return text, true
}

// small reports whether a value can be so short that to print it is cheap.
func small(n node, budget *int, depth int) bool {
	if *budget--; *budget < 0 || depth > maxNesting {
		return false
	}
	if n.speaks() {
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
