package display

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/quernlab/quern/internal/tableview"
)

// Limits for long tables, because a notebook stores everything it displays.
const (
	tableHead    = 50
	tableTail    = 10
	firstColumns = 30
	lastColumns  = 10
	cellWidth    = 80 // characters of a cell
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
// right-aligned.
//
// Of a long table the first 50 and the last 10 rows are shown, with the total, and of more than
// 40 columns the first 30 and the last 10. Where the front end runs scripts of outputs, as
// JupyterLab does in notebooks that are trusted, a click on a heading sorts the rows, and a table
// of more than 25 has pages. For this, further rows are stored in the notebook, at most 1000 and
// 32 KiB of text; the table says so if these are not all.
//
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
	rows    [][]tableview.Cell
	view    tableview.Table // with the rows that have a page of their own
	gap     int             // rows are left out before this row; -1: none
	hidden  int             // columns are left out at this column; -1: none
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
	t := &table{gap: -1, hidden: -1, total: s.rows, columns: len(s.header), width: cellWidth}
	shown := tableview.Ends(len(s.header), firstColumns, lastColumns)
	for j, k := range shown {
		if k < 0 {
			t.hidden = j
			t.header = append(t.header, "…")
			continue
		}
		t.header = append(t.header, s.header[k])
	}
	t.numbers = make([]bool, len(t.header))
	for j := range t.numbers {
		t.numbers[j] = s.rows > 0 && j != t.hidden
	}
	row := func(i int) []tableview.Cell {
		nodes, cells := s.row(i), make([]tableview.Cell, len(t.header))
		for j, k := range shown {
			switch {
			case k < 0:
				cells[j].Text = "…"
			case k < len(nodes):
				cells[j] = cellOf(nodes[k])
				t.numbers[j] = t.numbers[j] && (number(nodes[k]) || nodes[k].kind() == reflect.Invalid)
			default:
				cells[j].Missing = true
			}
		}
		return cells
	}
	for _, i := range tableview.Ends(s.rows, tableHead, tableTail) {
		if i < 0 {
			t.gap = len(t.rows)
			t.view.Fill(tableHead, s.rows-tableTail, row)
			continue
		}
		t.rows = append(t.rows, row(i))
	}
	return t.aligned(), nil
}

// complete returns a table of a report, which may get further rows, as it is now. Its rows have an order of their own.
func (t *table) complete() *table {
	now := *t
	now.numbers = make([]bool, len(t.header))
	now.view.Fixed = true
	return now.aligned()
}

// aligned returns the table with right-aligned columns of quantities.
func (t *table) aligned() *table {
	for j := range t.numbers {
		t.numbers[j] = t.numbers[j] || t.quantities(j) && !(t.named && j == 0)
	}
	return t
}

// quantities reports whether column j has at least one cell that is not empty, and all of those
// are quantities.
func (t *table) quantities(j int) bool {
	some := slices.ContainsFunc(t.rows, func(row []tableview.Cell) bool { return row[j].Text != "" })
	return some && !slices.ContainsFunc(t.rows, func(row []tableview.Cell) bool { return row[j].Text != "" && !tableview.IsQuantity(row[j].Text) })
}

// footer returns the size of the table if it is not completely visible.
func (t *table) footer() string {
	if t.gap < 0 && t.hidden < 0 {
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
		for j, c := range row {
			short[j] = cut(strings.Join(strings.FieldsFunc(c.Text, blank), " "), t.width)
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
	v := t.view
	v.Rows, v.Gap, v.Total, v.Footer = t.rows, t.gap, t.total, t.footer()
	for j, title := range t.header {
		v.Columns = append(v.Columns, tableview.Column{Title: title, Right: t.numbers[j], Gap: j == t.hidden})
	}
	return v.HTML()
}
