package accel

import (
	"html"
	"strings"

	texttable "github.com/quernlab/quern/accel/internal/table"
	"github.com/quernlab/quern/plots"
)

// table is a table of texts with headings and a text below it.
type table struct {
	headings []string
	rows     [][]string
	below    string
}

func (t table) all() [][]string { return append([][]string{t.headings}, t.rows...) }

// text returns the table with its columns aligned by spaces.
func (t table) text() string { return strings.TrimRight(texttable.Text(t.all())+t.below, "\n") }

// html returns the table as HTML: the first column left-aligned, the others right-aligned.
func (t table) html() string {
	page := texttable.HTML(t.all(), func(column int) bool { return column > 0 })
	for line := range strings.Lines(t.below) {
		page += "<div>" + html.EscapeString(strings.TrimRight(line, "\n")) + "</div>"
	}
	return page
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
