package display

import (
	"html"
	"strings"

	"github.com/quernlab/quern/internal/tableview"
)

// Report is what a result shows of itself: texts, tables and figures in the order in which they are
// added. It is displayed as HTML and as text. The zero value is empty.
//
//	r := new(display.Report)
//	r.Figure(plots.Line("loss", losses))
//	r.Table("model", "accuracy", "time")
//	r.Row("dense", "98.1 ± 0.2 %", "8.06 ms")
//	r.Row("pruned", "97.9 ± 0.3 %", "8.11 ms")
//	r.Text("mean ± standard deviation of 3 seeds")
type Report struct {
	parts []part
	alt   string
}

// Reporter is a value that is displayed by its report.
type Reporter interface {
	// Report returns what is displayed.
	Report() *Report
}

// Figure is a figure in a [Report], such as a *plots.Figure.
type Figure interface {
	MetadataDisplayer
	// HTML returns the figure as an element of a page.
	HTML() string
}

// part is one of its fields.
type part struct {
	text   string
	table  *table
	figure Figure
}

// Text adds lines of text; an empty text adds nothing.
func (r *Report) Text(text string) *Report {
	if text != "" {
		r.parts = append(r.parts, part{text: strings.TrimRight(text, "\n")})
	}
	return r
}

// Figure adds a figure. A report that consists of one figure is displayed like the figure, in its formats
// and with its metadata. In the text of other reports a figure is left out.
func (r *Report) Figure(f Figure) *Report {
	r.parts = append(r.parts, part{figure: f})
	return r
}

// Table adds a table without rows, with the headings of its columns. Unlike [Table], it shows all
// rows that are added, and cells are not truncated. Columns of numbers, with or without a unit, are
// right-aligned; cells without a number are empty or "–". A first column without a heading has names, such as the paths
// 1.2 and 1.10 of layers, and is left-aligned.
func (r *Report) Table(columns ...string) *Report {
	r.parts = append(r.parts, part{table: &table{
		header: columns, columns: len(columns), gap: -1, hidden: -1, named: len(columns) > 0 && columns[0] == "",
	}})
	return r
}

// Row adds a row to the table that was added last; it panics if something else was. Cells beyond the columns are
// left out; numbers have all their digits.
func (r *Report) Row(cells ...any) *Report {
	t := r.parts[len(r.parts)-1].table
	row := make([]tableview.Cell, len(t.header))
	for j, c := range cells[:min(len(cells), len(row))] {
		var text bool
		if row[j].Text, text = c.(string); !text {
			row[j].Text = cellText(nodeOf(c))
		}
		t.width = max(t.width, len(row[j].Text))
	}
	t.rows = append(t.rows, row)
	t.total++
	return r
}

// Alt replaces the text of the report, which then describes its figures.
func (r *Report) Alt(text string) *Report {
	r.alt = text
	return r
}

// String returns the report as text.
func (r *Report) String() string {
	if r.alt != "" {
		return r.alt
	}
	var b strings.Builder
	for _, p := range r.parts {
		switch {
		case p.figure != nil:
			continue
		case b.Len() > 0 && p.table != nil:
			b.WriteString("\n\n")
		case b.Len() > 0:
			b.WriteString("\n")
		}
		if b.WriteString(p.text); p.table != nil {
			b.WriteString(p.table.complete().text())
		}
	}
	return b.String()
}

// MIMEBundle returns the report as HTML and text, or its only figure in all its formats.
func (r *Report) MIMEBundle() map[string]any {
	if f := r.only(); f != nil {
		bundle := f.MIMEBundle()
		if r.alt != "" {
			bundle["text/plain"] = r.alt
		}
		return bundle
	}
	bundle := map[string]any{"text/plain": r.String()}
	var page strings.Builder
	for _, p := range r.parts {
		switch {
		case p.figure != nil:
			page.WriteString("<div>" + p.figure.HTML() + "</div>")
		case p.table != nil:
			page.WriteString(p.table.complete().html())
		}
		if p.text == "" {
			bundle["text/html"] = true
		}
		for line := range strings.Lines(p.text) {
			page.WriteString("<div>" + html.EscapeString(strings.TrimSpace(line)) + "</div>")
		}
	}
	if bundle["text/html"] != nil { // texts alone need no HTML
		bundle["text/html"] = page.String()
	}
	return bundle
}

// MIMEMetadata returns the metadata of the only figure.
func (r *Report) MIMEMetadata() map[string]any {
	if f := r.only(); f != nil {
		return f.MIMEMetadata()
	}
	return nil
}

// only returns the figure of a report without other parts.
func (r *Report) only() Figure {
	if len(r.parts) != 1 {
		return nil
	}
	return r.parts[0].figure
}
