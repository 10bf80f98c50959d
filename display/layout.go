package display

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/internal/tableview"
)

// structure writes one field per line.
func (p *printer) structure(n node, indent string, depth int) {
	width := 0
	for i := range n.value.NumField() {
		width = max(width, utf8.RuneCountInString(n.typ().Field(i).Name))
	}
	p.text.WriteString(typeName(n.typ()) + "{")
	for i := range n.value.NumField() {
		if !p.newline(indent + "  ") {
			p.text.WriteString(" … " + quantity.Plural(n.value.NumField()-i, "field") + " more")
			break
		}
		name, f := n.field(i)
		p.text.WriteString(fmt.Sprintf("%-*s ", width+1, name+":"))
		p.node(f, indent+"  ", depth+1)
	}
	p.close(indent, "}")
}

// maxEntries is the number of map entries, or of elements that need their own lines, that are
// shown.
const maxEntries = 30

// mapping writes one entry per line, sorted by key as in fmt.
func (p *printer) mapping(n node, indent string, depth int) {
	entries := sortedEntries(n)
	p.text.WriteString(typeName(n.typ()) + "{")
	for i, e := range entries {
		if i == maxEntries || !p.newline(indent+"  ") {
			p.more(indent, quantity.Plural(len(entries)-i, "entry"))
			break
		}
		if e.key.kind() == reflect.String && !e.key.hasText() {
			p.text.WriteString(cut(e.key.line(), lineWidth))
		} else {
			p.node(e.key, indent+"  ", maxNesting)
		}
		p.text.WriteString(": ")
		p.node(e.value, indent+"  ", depth+1)
	}
	p.close(indent, "} ("+quantity.Plural(len(entries), "entry")+")")
}

// sortedEntries returns the entries of a map sorted by key: numbers by value, all other keys by
// their text. If there are very many keys that are not numbers or strings, they stay unsorted,
// because formatting them would take too long.
func sortedEntries(n node) []entry {
	entries := n.entries()
	switch kind := n.typ().Key().Kind(); {
	case kind >= reflect.Int && kind <= reflect.Int64:
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key.value.Int(), b.key.value.Int()) })
	case kind >= reflect.Uint && kind <= reflect.Uintptr:
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key.value.Uint(), b.key.value.Uint()) })
	case kind == reflect.Float32 || kind == reflect.Float64:
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key.value.Float(), b.key.value.Float()) })
	case kind == reflect.String:
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key.value.String(), b.key.value.String()) })
	case len(entries) <= maxSorted:
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key.line(), b.key.line()) })
	}
	return entries
}

const maxSorted = 1000

// The number of elements shown at each end of a long list of short elements.
const (
	listHead = 80
	listTail = 10
)

// list writes a slice or an array: short elements side by side, other elements one per line.
func (p *printer) list(n node, indent string, depth int) {
	length := n.value.Len()
	if scalar(n) {
		p.flow(n, indent)
		return
	}
	p.text.WriteString(typeName(n.typ()) + "{")
	for i := range length {
		if i == maxEntries || !p.newline(indent+"  ") {
			p.more(indent, quantity.Plural(length-i, "element"))
			break
		}
		p.text.WriteString(strconv.Itoa(i) + ": ")
		p.node(n.index(i), indent+"  ", depth+1)
	}
	p.close(indent, "} ("+quantity.Plural(length, "element")+")")
}

// scalar reports whether the elements of a list are numbers, strings or other short values.
func scalar(n node) bool {
	switch n.typ().Elem().Kind() {
	case reflect.Slice, reflect.Array, reflect.Struct, reflect.Map, reflect.Interface, reflect.Pointer:
		return false
	}
	return true
}

// flow writes elements side by side.
func (p *printer) flow(n node, indent string) {
	length := n.value.Len()
	p.text.WriteString("[")
	column := len(indent) + 1
	for i := 0; i < length; i++ {
		text := cut(n.index(i).line(), lineWidth)
		if length > listHead+listTail && i == listHead {
			text, i = "…", length-listTail-1
		}
		width := utf8.RuneCountInString(text)
		switch {
		case i == 0:
		case column+1+width > lineWidth-10:
			if !p.newline(indent + " ") {
				p.text.WriteString(" …")
				i = length
			}
			column = len(indent) + 1
		default:
			p.text.WriteString(" ")
			column++
		}
		if i < length {
			p.text.WriteString(text)
			column += width
		}
	}
	p.text.WriteString("] (" + quantity.Plural(length, "element") + ")")
}

// cut truncates a text to a number of characters.
func cut(text string, width int) string {
	if len(text) <= width || utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text[:min(len(text), 4*width)])[:width-1]) + "…"
}

// maxSide is the number of rows and columns shown of a matrix, half of them from each end.
const maxSide = 12

// matrix reports whether n is a list of equally long lists of numbers.
func matrix(n node) (rows, columns int, ok bool) {
	if k := n.typ().Elem().Kind(); k != reflect.Slice && k != reflect.Array || n.value.Len() == 0 {
		return 0, 0, false
	}
	switch k := n.typ().Elem().Elem().Kind(); {
	case n.typ().Elem() == rawType:
		return 0, 0, false
	case k >= reflect.Int && k <= reflect.Complex128 && k != reflect.Uintptr:
	default:
		return 0, 0, false
	}
	columns = n.value.Index(0).Len()
	for i := range n.value.Len() {
		if n.value.Index(i).Len() != columns {
			return 0, 0, false
		}
	}
	return n.value.Len(), columns, columns > 0
}

// matrix writes the rows below each other, with aligned columns.
func (p *printer) matrix(n node, rows, columns int, indent string) {
	var texts [][]string
	for _, i := range ends(rows) {
		row := make([]string, 0, maxSide+1)
		for _, j := range ends(columns) {
			switch {
			case i < 0 && j < 0:
				row = append(row, "⋱")
			case i < 0:
				row = append(row, "⋮")
			case j < 0:
				row = append(row, "…")
			default:
				row = append(row, cut(n.index(i).index(j).line(), 20))
			}
		}
		texts = append(texts, row)
	}
	for i, line := range alignColumns(texts, func(int) bool { return true }) {
		if i > 0 {
			p.text.WriteString("\n" + indent + " ")
		} else {
			p.text.WriteString("[")
		}
		p.text.WriteString("[" + line + "]")
	}
	p.text.WriteString(fmt.Sprintf("] (%d×%d)", rows, columns))
}

// ends returns the indices of the elements of n that are shown, with -1 for a gap.
func ends(n int) []int { return tableview.Ends(n, maxSide/2, maxSide/2) }

// alignColumns joins each row, padded so that the columns are aligned.
func alignColumns(rows [][]string, right func(column int) bool) []string {
	var widths []int
	for _, row := range rows {
		for j, text := range row {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], utf8.RuneCountInString(text))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for j, text := range row {
			if j > 0 {
				b.WriteString("  ")
			}
			blanks := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(text))
			if right(j) {
				b.WriteString(blanks + text)
			} else {
				b.WriteString(text + blanks)
			}
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// more writes how many elements are left out, on its own line if one is left.
func (p *printer) more(indent, what string) {
	if p.lines >= 0 {
		p.text.WriteString("\n" + indent + "  ")
	}
	p.text.WriteString("… " + what + " more")
}

// close writes the end of a block on its own line.
func (p *printer) close(indent, end string) { p.text.WriteString("\n" + indent + end) }
