package prof

import (
	"errors"
	"html"
	"strings"
)

// errNoSteps is returned if there is nothing to write.
var errNoSteps = errors.New("prof: no step was measured")

// displayedRows is the number of table rows in the display of a report.
const displayedRows = 12

// MIMEBundle returns the display of the report: the breakdown, the timeline, the memory, the
// table and the hints.
func (r *Report) MIMEBundle() map[string]any {
	if r == nil || len(r.Steps) == 0 {
		return map[string]any{"text/plain": r.String()}
	}
	table := r.Table(SelfCUDA, displayedRows)
	text := r.String() + "\n\n" + table.String() + "\n"
	var page strings.Builder
	for line := range strings.Lines(r.String()) {
		page.WriteString("<div>" + html.EscapeString(strings.TrimSpace(line)) + "</div>")
	}
	page.WriteString("<div>" + r.Timeline().HTML() + "</div>")
	if len(r.memory) > 0 {
		page.WriteString("<div>" + r.MemoryFigure().HTML() + "</div>")
	}
	rows, _ := table.content().MIMEBundle()["text/html"].(string)
	page.WriteString(rows)
	page.WriteString("<ul>")
	for _, hint := range r.Hints() {
		text += "\n- " + hint
		page.WriteString("<li>" + html.EscapeString(hint) + "</li>")
	}
	page.WriteString("</ul>")
	return map[string]any{"text/html": page.String(), "text/plain": text}
}
