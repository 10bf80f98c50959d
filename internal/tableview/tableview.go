// Package tableview writes tables as HTML that a reader can sort and page.
//
// Without scripts, as on GitHub, in notebooks that are not trusted and in print, the page shows the first and the last
// rows. Where scripts run, a click on a heading sorts the rows, and long tables have pages; the rows for this are in
// the page as JSON, up to [MaxRows] and [MaxBytes].
package tableview

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/quernlab/quern/internal/quantity"
)

// Limits of the rows that are in a page beside those that it shows without scripts, because a notebook stores what it displays.
const (
	MaxRows  = 1000
	MaxBytes = 32 << 10
)

// Ends returns the indices of the first and the last of n rows or columns, with -1 for a gap between them, or all if
// there is none.
func Ends(n, head, tail int) []int {
	indices := make([]int, 0, head+tail+1)
	for i := range n {
		switch {
		case n <= head+tail || i < head || i >= n-tail:
			indices = append(indices, i)
		case i == head:
			indices = append(indices, -1)
		}
	}
	return indices
}

// wide is the number of columns that fit on paper; tables with more are printed in a smaller font.
const wide = 7

// A Column is a column of a table.
type Column struct {
	Title string
	Note  string // HTML below the title
	Right bool   // right-aligned, without line breaks
	Gap   bool   // stands for columns that are left out
}

// A Cell is a value in a table.
type Cell struct {
	Text    string
	Key     string // a decimal number; a column is sorted by them if all of its values have one, in the same unit
	Unit    string
	Missing bool // sorted behind all others
}

// A Table is a table whose rows can be sorted, unless Fixed is set.
type Table struct {
	Columns  []Column
	Rows     [][]Cell // what is shown without scripts
	Gap      int      // rows are left out before this row; -1: none
	Total    int      // rows, with those that are left out
	Numbered bool     // the first cell of a row is its heading
	Fixed    bool     // the order of the rows has a meaning
	Footer   string   // text below the table

	more [][]Cell // the first of the rows that are left out
}

// Fill adds rows that Rows leaves out, as many as the limits allow: those from index from, in order, until end.
func (t *Table) Fill(from, end int, row func(i int) []Cell) {
	bytes := 0
	for i := from; i < min(end, MaxRows); i++ {
		cells := row(i)
		for _, c := range cells {
			bytes += len(c.Text) + len(c.Key) + 3
		}
		if bytes > MaxBytes {
			return
		}
		t.more = append(t.more, cells)
	}
}

//go:embed tableview.js
var source string

// script sorts and pages the tables of a page. Comments and indentation are not stored in notebooks.
var script = func() string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}()

// HTML returns the table as a part of a page. It contains no empty lines.
func (t *Table) HTML() string {
	var b strings.Builder
	b.WriteString(t.heading())
	// Values with dollar signs are no formulas.
	b.WriteString(`<div class="quern-table tex2jax_ignore mathjax_ignore">`)
	if len(t.Columns) > wide {
		b.WriteString(`<style>@media print{table.quern-wide{font-size:62%}table.quern-wide :is(td,th){padding:3px;overflow-wrap:anywhere}}</style>` +
			"<table class=\"quern-wide\">\n<thead><tr>")
	} else {
		b.WriteString("<table>\n<thead><tr>")
	}
	for _, c := range t.Columns {
		style := "text-align:left"
		if c.Right {
			style = "text-align:right"
		}
		if c.Note != "" {
			style += ";vertical-align:bottom"
		}
		b.WriteString(`<th style="` + style + `">` + html.EscapeString(c.Title) + c.Note + "</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	numbers := t.numbers()
	for i, row := range t.Rows {
		if i == t.Gap {
			b.WriteString("<tr>" + strings.Repeat("<td>⋮</td>", len(t.Columns)) + "</tr>\n")
		}
		t.row(&b, row, numbers)
	}
	b.WriteString("</tbody>\n</table>")
	if t.Footer != "" {
		b.WriteString("\n<div>" + html.EscapeString(t.Footer) + "</div>")
	}
	if !t.Fixed && len(t.Rows) > 2 {
		fmt.Fprintf(&b, "\n<script type=\"application/json\">%s</script>\n<script>\n%s</script>\n", t.data(numbers), script)
	}
	b.WriteString("</div>")
	return b.String()
}

// titles is how much of the titles is in the heading, in characters.
const titles = 100

// heading is a comment that describes the table: in place of an output that is collapsed, JupyterLab shows the first line of its
// source.
func (t *Table) heading() string {
	var names []string
	for _, c := range t.Columns {
		if c.Title != "" {
			names = append(names, c.Title)
		}
	}
	text := strings.Join(strings.Fields(strings.Join(names, ", ")), " ")
	if r := []rune(text); len(r) > titles {
		text = string(r[:titles]) + "…"
	}
	return "<!-- " + strings.ReplaceAll(html.EscapeString(quantity.Plural(t.Total, "row")+": "+text), "--", "–") + " -->\n"
}

func (t *Table) row(b *strings.Builder, row []Cell, numbers []bool) {
	b.WriteString("<tr>")
	for j, c := range row {
		tag, style, key := "td", "text-align:left", ""
		if t.Numbered && j == 0 {
			tag = "th"
		}
		if t.Columns[j].Right {
			style = "text-align:right;white-space:nowrap" // no line break between number and unit
		}
		if c.Missing {
			style += ";opacity:.5"
		}
		if c, ok := c.stored(numbers[j]).([2]string); ok && !t.Fixed {
			key = ` data-key="` + c[1] + `"`
		}
		fmt.Fprintf(b, `<%s style="%s"%s>%s</%[1]s>`, tag, style, key, html.EscapeString(c.Text))
	}
	b.WriteString("</tr>\n")
}

// stored returns a cell as in the data of the script: its text, and its key if it is another text.
func (c Cell) stored(number bool) any {
	switch {
	case c.Missing && c.Text != "":
		return [2]string{c.Text}
	case number && c.Key != "" && c.Key != c.Text:
		return [2]string{c.Text, c.Key}
	}
	return c.Text
}

// data returns what the script reads.
func (t *Table) data(numbers []bool) string {
	var d struct {
		Kinds string  `json:"kinds"` // of the columns: n for numbers, t for texts, - for a gap
		Gap   int     `json:"gap"`   // the row of the page before which those of More belong
		Total int     `json:"total"`
		More  [][]any `json:"more"`
	}
	d.Gap, d.Total, d.More = t.Gap, t.Total, [][]any{}
	for j, c := range t.Columns {
		switch {
		case c.Gap:
			d.Kinds += "-"
		case numbers[j]:
			d.Kinds += "n"
		default:
			d.Kinds += "t"
		}
	}
	for _, row := range t.more {
		cells := make([]any, len(row))
		for j, c := range row {
			cells[j] = c.stored(numbers[j])
		}
		d.More = append(d.More, cells)
	}
	text, err := json.Marshal(d) // escapes <
	if err != nil {
		panic(err) // it consists of texts
	}
	return string(text)
}

// none are texts of values that a column of numbers may contain.
var none = []string{"", "–", "NaN"}

// numbers returns which columns are sorted by keys.
func (t *Table) numbers() []bool {
	numbers := make([]bool, len(t.Columns))
	for j := range numbers {
		unit, some, all := "", false, true
		for _, row := range slices.Concat(t.Rows, t.more) {
			if c := row[j]; !c.Missing && !slices.Contains(none, c.Text) {
				all = all && c.Key != "" && (!some || c.Unit == unit)
				unit, some = c.Unit, true
			}
		}
		numbers[j] = some && all
	}
	return numbers
}
