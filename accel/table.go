package accel

import (
	"fmt"
	"html"
	"strings"
	"text/tabwriter"

	"github.com/quernlab/quern/plots"
)

// table is a table of texts with headings and a text below it.
type table struct {
	headings []string
	rows     [][]string
	below    string
}

// text returns the table with its columns aligned by spaces.
func (t table) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.headings}, t.rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush() // a strings.Builder takes everything
	var trimmed strings.Builder
	for line := range strings.Lines(b.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return strings.TrimRight(trimmed.String()+t.below, "\n")
}

// html returns the table as HTML: the first column left-aligned, the others right-aligned.
func (t table) html() string {
	var b strings.Builder
	b.WriteString("<table>")
	for i, row := range append([][]string{t.headings}, t.rows...) {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		b.WriteString("<tr>")
		for column, cell := range row {
			align := "right"
			if column == 0 {
				align = "left"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s">%s</%s>`, tag, align, html.EscapeString(cell), tag)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
	for line := range strings.Lines(t.below) {
		fmt.Fprintf(&b, "<div>%s</div>", html.EscapeString(strings.TrimRight(line, "\n")))
	}
	return b.String()
}

// bundle returns the table as HTML and text.
func (t table) bundle() map[string]any {
	return map[string]any{"text/plain": t.text(), "text/html": t.html()}
}

// figureAndTable returns a table, with a figure above it if draws is true.
func figureAndTable(draws bool, figure func() *plots.Figure, t table) map[string]any {
	bundle := t.bundle()
	if draws {
		bundle["text/html"] = "<div>" + figure().HTML() + "</div>" + t.html()
	}
	return bundle
}
