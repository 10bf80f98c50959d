package display

import (
	"fmt"
	"html"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/quernlab/quern/internal/quantity"
)

// Limits for long tables, because a notebook stores everything it displays.
const (
	tableHead    = 50
	tableTail    = 10
	tableColumns = 40
	cellWidth    = 80 // characters of a cell
	wideTable    = 7  // with more columns, a smaller font is used for printing, so that they fit on paper
)

// Table displays rows and columns, as HTML and as aligned text. Data is one of
//
//   - a slice or an array of structs, or of pointers to them: a row for each, with a
//     column for each exported field (for types of package main, such as those of
//     cells, for every field);
//   - a slice of maps with string keys: a row for each, with a column for each key;
//   - a slice of slices, [][]any or [][]float64: a row for each;
//   - a map: a row for each entry, sorted by key, with columns for the key and for
//     the value or, if that is a struct, for its fields;
//   - a struct: a row for each field.
//
// If columns are given, they select fields or keys and their order; for slices of slices and
// for maps they name the columns. Columns of numbers, with or without a unit, are
// right-aligned. Of a long table the first 50 and the last 10 rows are shown, with the total.
// Data of any other type, or a column that does not exist, display as an error text.
func Table(data any, columns ...string) Content {
	t, err := newTable(nodeOf(data), columns)
	if err != nil {
		return Text("display: " + err.Error())
	}
	return Content{"text/html", t.html(), t.text()}
}

// table is the visible part of a table, with all cells as text.
type table struct {
	header  []string
	rows    [][]string
	gap     int // rows are left out before this row; -1: none
	total   int
	columns int // including those left out
	width   int // most characters of a cell as text
	numbers []bool
	named   bool // the first column has names, which may look like numbers
}

func newTable(n node, columns []string) (*table, error) {
	if to, ok := n.target(); ok {
		n = to
	}
	s, err := newSource(n, columns)
	if err != nil {
		return nil, err
	}
	t := &table{header: s.header, gap: -1, total: s.rows, columns: len(s.header), width: cellWidth}
	t.header = t.header[:min(len(t.header), tableColumns)]
	t.numbers = make([]bool, len(t.header))
	for i := range t.numbers {
		t.numbers[i] = s.rows > 0
	}
	for _, i := range endsOf(s.rows, tableHead, tableTail) {
		if i < 0 {
			t.gap = len(t.rows)
			continue
		}
		row := make([]string, len(t.header))
		for j, n := range s.row(i) {
			if j == len(row) {
				break
			}
			row[j] = cellText(n)
			t.numbers[j] = t.numbers[j] && (number(n) || n.kind() == reflect.Invalid)
		}
		t.rows = append(t.rows, row)
	}
	return t.aligned(), nil
}

// complete returns a table of a report, which may get further rows, as it is now.
func (t *table) complete() *table {
	now := *t
	now.numbers = make([]bool, len(t.header))
	return now.aligned()
}

// aligned returns the table with right-aligned columns of quantities.
func (t *table) aligned() *table {
	for j := range t.numbers {
		t.numbers[j] = t.numbers[j] || t.quantities(j) && !(t.named && j == 0)
	}
	return t
}

// numeric matches a number with an optional deviation and unit, "8.06 ms", "63.5 ± 9.1 %", or what stands for a number that is missing.
var numeric = regexp.MustCompile(`^([-−+]?\d+([., \x{a0}\x{202f}]\d+)*(e[-−+]?\d+)?( ?± ?\d[\d.]*(e[-−+]?\d+)?)?( ?(%|×|[\pL/]{1,8}))?|–|NaN|[+-]Inf)$`)

// quantities reports whether column j has at least one cell that is not empty, and all of those
// are quantities.
func (t *table) quantities(j int) bool {
	some := slices.ContainsFunc(t.rows, func(row []string) bool { return row[j] != "" })
	return some && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[j] != "" && !numeric.MatchString(row[j]) })
}

func number(n node) bool {
	k := n.kind()
	return k >= reflect.Int && k <= reflect.Complex128 && k != reflect.Uintptr && !n.hasText()
}

func cellText(n node) string {
	if n.kind() == reflect.Invalid {
		return ""
	}
	if to, ok := n.target(); ok && !n.hasText() && !composite(to.kind()) {
		n = to
	}
	if text, ok := n.raw(); ok {
		return cut(text, 4*cellWidth)
	}
	budget := 4 * cellWidth
	if !n.hasText() && n.kind() != reflect.String && !small(n, &budget, 0) {
		return typeName(n.typ()) + fmt.Sprintf(" (%s)", size(n))
	}
	if n.kind() == reflect.String && !n.hasText() {
		return cut(n.value.String(), 4*cellWidth)
	}
	return cut(n.line(), 4*cellWidth)
}

func size(n node) string {
	switch n.kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return quantity.Plural(n.value.Len(), "element")
	case reflect.Struct:
		return quantity.Plural(n.value.NumField(), "field")
	}
	return "large"
}

// footer returns the size of the table if it is not completely visible.
func (t *table) footer() string {
	if t.gap < 0 && t.columns == len(t.header) {
		return ""
	}
	return fmt.Sprintf("%d rows × %d columns", t.total, t.columns)
}

// blank reports whether a character is shown as a space in text, which has a line for each row.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

func (t *table) text() string {
	rows := [][]string{t.header}
	for i, row := range t.rows {
		if i == t.gap {
			gap := make([]string, len(t.header))
			for j := range gap {
				gap[j] = "…"
			}
			rows = append(rows, gap)
		}
		short := make([]string, len(row))
		for j, text := range row {
			short[j] = cut(strings.Join(strings.FieldsFunc(text, blank), " "), t.width)
		}
		rows = append(rows, short)
	}
	lines := alignColumns(rows, func(j int) bool { return t.numbers[j] })
	if footer := t.footer(); footer != "" {
		lines = append(lines, footer)
	}
	return strings.Join(lines, "\n")
}

func (t *table) html() string {
	var b strings.Builder
	cell := func(tag, text string, number bool) {
		style := ` style="text-align: left"`
		if number {
			style = ` style="text-align: right"`
			if tag == "td" {
				style = ` style="text-align: right; white-space: nowrap"` // no line break between number and unit
			}
		}
		b.WriteString("<" + tag + style + ">" + html.EscapeString(text) + "</" + tag + ">")
	}
	if len(t.header) > wideTable {
		b.WriteString(`<style>@media print{table.quern-wide{font-size:62%}table.quern-wide :is(td,th){padding:3px;overflow-wrap:anywhere}}</style>` +
			"<table class=\"quern-wide\">\n<thead><tr>")
	} else {
		b.WriteString("<table>\n<thead><tr>")
	}
	for j, name := range t.header {
		cell("th", name, t.numbers[j])
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for i, row := range t.rows {
		if i == t.gap {
			b.WriteString("<tr>" + strings.Repeat("<td>⋮</td>", len(t.header)) + "</tr>\n")
		}
		b.WriteString("<tr>")
		for j, text := range row {
			cell("td", text, t.numbers[j])
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>")
	if footer := t.footer(); footer != "" {
		b.WriteString("\n<p>" + footer + "</p>")
	}
	return b.String()
}
