package accel

import (
	"fmt"
	"html"
	"strings"
	"text/tabwriter"

	"github.com/quernlab/quern/plots"
)

// table is rows of words below a row of headings, and a line under them.
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

// html returns the table for a browser: the first column left, numbers right.
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

// bundle shows the table.
func (t table) bundle() map[string]any {
	return map[string]any{"text/plain": t.text(), "text/html": t.html()}
}

// figureAndTable shows a table, and above it a figure where there is something to
// draw.
func figureAndTable(draws bool, figure func() *plots.Figure, t table) map[string]any {
	bundle := t.bundle()
	if draws {
		bundle["text/html"] = "<div>" + figure().HTML() + "</div>" + t.html()
	}
	return bundle
}
