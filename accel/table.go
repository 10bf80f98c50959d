package accel

import (
	texttable "github.com/quernlab/quern/accel/internal/table"
	"github.com/quernlab/quern/plots"
)

// table is a table of texts with headings and a text below it.
type table struct {
	headings []string
	rows     [][]string
	below    string
}

func (t table) full() texttable.Table {
	return texttable.Table{Headings: t.headings, Rows: t.rows, Below: t.below}
}

// text returns the table with its columns aligned by spaces.
func (t table) text() string { return t.full().Text() }

// bundle returns the table as HTML and text.
func (t table) bundle() map[string]any { return t.full().Bundle("") }

// figureAndTable returns a table, with a figure above it if draws is true.
func figureAndTable(draws bool, figure func() *plots.Figure, t table) map[string]any {
	if !draws {
		return t.bundle()
	}
	return t.full().Bundle(figure().HTML())
}
