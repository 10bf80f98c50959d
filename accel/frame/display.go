package frame

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/internal/tableview"
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
// values and a small histogram, and as text. Where the front end runs scripts, the table can be sorted and has pages,
// as described at [display.Table].
func (f *Frame) MIMEBundle() map[string]any {
	columns, rows, gap := f.shown()
	t := tableview.Table{Columns: []tableview.Column{{Right: true}}, Numbered: true, Gap: gap, Total: f.Len(), Footer: f.size()}
	for _, c := range columns {
		if c == nil {
			t.Columns = append(t.Columns, tableview.Column{Title: "…", Gap: true})
			continue
		}
		note := `<br><span style="font-weight:normal;opacity:.7;white-space:nowrap">` + c.summary() + "</span>" + distributionOf(*c).svg()
		t.Columns = append(t.Columns, tableview.Column{Title: c.name, Note: note, Right: c.isNumber()})
	}
	row := func(i int) []tableview.Cell {
		number := strconv.Itoa(i)
		cells := []tableview.Cell{{Text: number, Key: number}}
		for _, c := range columns {
			if c == nil {
				cells = append(cells, tableview.Cell{Text: "…"})
				continue
			}
			cells = append(cells, c.cell(i))
		}
		return cells
	}
	for _, i := range rows {
		t.Rows = append(t.Rows, row(i))
	}
	if gap >= 0 {
		t.Fill(shownHead, f.Len()-shownTail, row)
	}
	return map[string]any{"text/html": t.HTML(), "text/plain": f.String()}
}

// shown returns the columns and rows to display, with nil for columns that are left out, and the index
// of the first row after a gap, or -1.
func (f *Frame) shown() (columns []*Column, rows []int, gap int) {
	rows = tableview.Ends(f.Len(), shownHead, shownTail)
	if gap = slices.Index(rows, -1); gap >= 0 {
		rows = slices.Delete(rows, gap, gap+1)
	}
	for _, i := range tableview.Ends(len(f.all()), shownFirst, shownColumns-shownFirst) {
		if i < 0 {
			columns = append(columns, nil)
			continue
		}
		columns = append(columns, &f.all()[i])
	}
	return columns, rows, gap
}

func (f *Frame) size() string {
	text := quantity.Plural(f.Len(), "row") + " × " + quantity.Plural(len(f.all()), "column")
	if more := len(f.all()) - shownColumns; more > 0 {
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

func (c Column) isNumber() bool { return c.Type() == Float || c.Type() == Int }

// cell returns value i as a cell of a table.
func (c Column) cell(i int) tableview.Cell {
	if c.Missing(i) {
		return tableview.Cell{Text: "missing", Missing: true}
	}
	cell := tableview.Cell{Text: c.shown(i)}
	switch l := c.cells.(type) {
	case *list[float64]:
		cell.Key = tableview.FloatKey(l.values[i], cell.Text)
	case *list[int]:
		cell.Key = cell.Text
	case *list[string]:
		cell.Key, cell.Unit = tableview.QuantityKey(cell.Text)
	case *list[time.Time]:
		cell.Key = tableview.TimeKey(l.values[i])
	}
	return cell
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
