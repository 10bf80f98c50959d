// Package table writes rows of texts, the first of which are the headings, as text and as HTML.
package table

import (
	"fmt"
	"html"
	"strings"
	"text/tabwriter"
)

// Text returns rows with their columns aligned by spaces, one line per row.
func Text(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush() // a strings.Builder takes everything
	var trimmed strings.Builder
	for line := range strings.Lines(b.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}

// HTML returns rows as a table. right reports whether a column is aligned on the right.
func HTML(rows [][]string, right func(column int) bool) string {
	var b strings.Builder
	b.WriteString("<table>")
	for i, row := range rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		b.WriteString("<tr>")
		for column, cell := range row {
			align := "left"
			if right(column) {
				align = "right"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s">%s</%s>`, tag, align, html.EscapeString(cell), tag)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
	return b.String()
}

// Table is a table of texts with headings and a text below it.
type Table struct {
	Headings []string
	Rows     [][]string
	Below    string
}

func (t Table) all() [][]string { return append([][]string{t.Headings}, t.Rows...) }

// Text returns the table with its columns aligned by spaces.
func (t Table) Text() string { return strings.TrimRight(Text(t.all())+t.Below, "\n") }

// HTML returns the table as HTML: the first column left-aligned, the others right-aligned.
func (t Table) HTML() string {
	page := HTML(t.all(), func(column int) bool { return column > 0 })
	for line := range strings.Lines(t.Below) {
		page += "<div>" + html.EscapeString(strings.TrimRight(line, "\n")) + "</div>"
	}
	return page
}

// Bundle returns the table as HTML and text, below an HTML figure if that is not empty.
func (t Table) Bundle(figure string) map[string]any {
	page := t.HTML()
	if figure != "" {
		page = "<div>" + figure + "</div>" + page
	}
	return map[string]any{"text/plain": t.Text(), "text/html": page}
}
