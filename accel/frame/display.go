package frame

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Limits of the display, because a notebook stores what it displays.
const (
	shownHead    = 10
	shownTail    = 5
	shownColumns = 30
	shownFirst   = 20 // of more columns, before a gap; the target is often the last one
	shownText    = 60 // characters of a value
)

// String returns the frame as text: a line with names and types, the first and the last rows,
// and the size. Of many columns it has the first and the last.
func (f *Frame) String() string {
	columns, rows, gap := f.shown()
	names := []string{""}
	for _, c := range columns {
		if c == nil {
			c = &Column{name: "…"}
		}
		names = append(names, c.name)
	}
	out := new(display.Report).Table(names...)
	row := func(first string, of func(Column) string) {
		texts := []any{first}
		for _, c := range columns {
			if c == nil {
				texts = append(texts, "…")
				continue
			}
			texts = append(texts, of(*c))
		}
		out.Row(texts...)
	}
	row("", Column.summary)
	for k, i := range rows {
		if k == gap {
			out.Row("…")
		}
		row(strconv.Itoa(i), func(c Column) string { return c.shown(i) })
	}
	return out.Text(f.size()).String()
}

// MIMEBundle returns the frame as an HTML table, in which each column has its type, its number of missing
// values and a small histogram, and as text.
func (f *Frame) MIMEBundle() map[string]any {
	columns, rows, gap := f.shown()
	var b strings.Builder
	b.WriteString(`<table><thead><tr><th></th>`)
	for _, c := range columns {
		if c == nil {
			b.WriteString("<th>…</th>")
			continue
		}
		fmt.Fprintf(&b, `<th style="text-align:%s;vertical-align:bottom">%s<br><span style="font-weight:normal;opacity:.7;white-space:nowrap">%s</span>%s</th>`,
			c.align(), html.EscapeString(c.name), c.summary(), distributionOf(*c).svg())
	}
	b.WriteString("</tr></thead><tbody>")
	for k, i := range rows {
		if k == gap {
			fmt.Fprintf(&b, `<tr><td colspan="%d" style="text-align:center">…</td></tr>`, len(columns)+1)
		}
		fmt.Fprintf(&b, `<tr><th style="text-align:right">%d</th>`, i)
		for _, c := range columns {
			if c == nil {
				b.WriteString("<td>…</td>")
				continue
			}
			text := html.EscapeString(c.shown(i))
			if c.Missing(i) {
				text = `<span style="opacity:.5">missing</span>`
			}
			fmt.Fprintf(&b, `<td style="text-align:%s">%s</td>`, c.align(), text)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table><div>" + html.EscapeString(f.size()) + "</div>")
	return map[string]any{"text/html": b.String(), "text/plain": f.String()}
}

// shown returns the columns and rows to display, with nil for columns that are left out, and the index
// of the first row after a gap, or -1.
func (f *Frame) shown() (columns []*Column, rows []int, gap int) {
	gap = -1
	for i := range f.rows {
		switch {
		case f.rows <= shownHead+shownTail || i < shownHead:
			rows = append(rows, i)
		case i == f.rows-shownTail:
			gap = len(rows)
			for j := i; j < f.rows; j++ {
				rows = append(rows, j)
			}
		}
	}
	for i := range f.columns {
		switch after := len(f.columns) - (shownColumns - shownFirst); {
		case len(f.columns) <= shownColumns || i < shownFirst || i >= after:
			columns = append(columns, &f.columns[i])
		case i == shownFirst:
			columns = append(columns, nil)
		}
	}
	return columns, rows, gap
}

func (f *Frame) size() string {
	text := quantity.Plural(f.rows, "row") + " × " + quantity.Plural(len(f.columns), "column")
	if more := len(f.columns) - shownColumns; more > 0 {
		text += fmt.Sprintf(", %d in the middle not shown: use Select", more)
	}
	return text
}

// summary returns the type, and how many values are missing.
func (c Column) summary() string {
	if n := c.CountMissing(); n > 0 {
		return c.Type().String() + ", " + display.Integer(n) + " missing"
	}
	return c.Type().String()
}

func (c Column) align() string {
	if c.Type() == Float || c.Type() == Int {
		return "right"
	}
	return "left"
}

// shown returns value i with at most six significant digits, or the start of a long text.
func (c Column) shown(i int) string {
	if l, ok := c.cells.(*list[float64]); ok && !c.Missing(i) {
		return strconv.FormatFloat(l.values[i], 'g', 6, 64)
	}
	text := c.Format(i)
	if utf8.RuneCountInString(text) > shownText {
		text = string([]rune(text)[:shownText]) + "…"
	}
	return text
}
