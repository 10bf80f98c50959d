package prof

import (
	"errors"

	"github.com/quernlab/quern/display"
)

// errNoSteps is returned if there is nothing to write.
var errNoSteps = errors.New("prof: no step was measured")

// displayedRows is the number of table rows in the display of a report.
const displayedRows = 12

// Report returns what is displayed: the breakdown, the timeline, the memory, the table, that of the GPU's kernels and the hints.
func (r *Report) Report() *display.Report {
	out := new(display.Report).Text(r.String())
	if r == nil || len(r.Steps) == 0 {
		return out
	}
	out.Figure(r.Timeline())
	if len(r.memory) > 0 {
		out.Figure(r.MemoryFigure())
	}
	r.Table(SelfCUDA, displayedRows).rows(out)
	r.kernels(out, displayedRows)
	for _, hint := range r.Hints() {
		out.Text("• " + hint)
	}
	return out
}
