package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// Limit says what takes most of a step and what else costs at least a twentieth of it, in percent: "compute 79, bubble 9".
func (p Prediction) Limit() string {
	type part struct {
		name    string
		seconds float64
	}
	parts := []part{
		{"compute", p.Parts.Compute}, {"memory bandwidth", p.Parts.Memory}, {"tensor communication", p.Parts.Tensor},
		{"data communication", p.Parts.Data}, {"bubble", p.Parts.Bubble}, {"update", p.Parts.Update},
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.seconds, a.seconds) })
	var texts []string
	for i, part := range parts {
		if share := part.seconds / p.Time; i == 0 || share >= 0.05 {
			texts = append(texts, fmt.Sprintf("%s %.0f", part.name, 100*share))
		}
	}
	return strings.Join(texts, ", ")
}

// shownMeshes is the number of meshes in the report.
const shownMeshes = 6

// Report returns what is displayed: the best layout for each number of GPUs, and the meshes of the largest.
func (p *Plan) Report() *display.Report {
	r := new(display.Report)
	name := fmt.Sprintf("%s parameters", quantity.Count(int(p.Model.Parameters())))
	if p.Model.Name != "" {
		name = p.Model.Name + ", " + name
	}
	unit := "examples"
	if p.Model.Tokens > 0 {
		unit = fmt.Sprintf("examples of %s tokens", display.Integer(p.Model.Tokens))
	}
	r.Text(fmt.Sprintf("%s in %s, batches of %s %s, on %s with %s", name, p.Model.Precision.Type, display.Integer(p.Batch), unit, p.Cluster.GPU.Name, size(p.Cluster.GPU.Memory)))
	p.table(r, "GPUs", p.Best, func(b Prediction) string { return display.Integer(b.Layout.GPUs()) })
	if len(p.Meshes) > 1 {
		shown := p.Meshes[:min(len(p.Meshes), shownMeshes)]
		r.Text(fmt.Sprintf("The best %d of %d meshes of %s GPUs:", len(shown), len(p.Meshes), display.Integer(shown[0].Layout.GPUs())))
		p.table(r, "rank", shown, func(b Prediction) string { return fmt.Sprint(slices.Index(p.Meshes, b) + 1) })
	}
	for _, remark := range p.Remarks {
		r.Text(remark)
	}
	return r.Text("Predicted, not measured. The limit is in percent of the step.")
}

// table adds a table of predictions.
func (p *Plan) table(r *display.Report, first string, rows []Prediction, name func(Prediction) string) {
	rate := "examples/s"
	if p.Model.Tokens > 0 {
		rate = "tokens/s"
	}
	header := []string{first, "mesh", "ZeRO", "micro-batch", "recomputed", "step", rate, "MFU", "memory"}
	if p.Examples > 0 {
		header = append(header, "training")
	}
	if p.Cluster.Price > 0 {
		header = append(header, "cost of "+p.costOf())
	}
	r.Table(append(header, "limit")...)
	for _, b := range rows {
		limit := b.Limit()
		if !b.Fits {
			limit = "memory: does not fit"
		}
		mfu := "–"
		if b.MFU > 0 {
			mfu = fmt.Sprintf("%.0f %%", 100*b.MFU)
		}
		cells := []any{
			name(b), b.Layout.String(), fmt.Sprint(b.Layout.ZeRO), fmt.Sprint(b.Layout.MicroBatch), b.Layout.Recompute.String(), quantity.Seconds(b.Time),
			quantity.Count(int(b.Rate * float64(max(1, p.Model.Tokens)))), mfu, size(b.Memory.Total()),
		}
		steps := p.Examples / float64(p.Batch)
		if p.Examples > 0 {
			cells = append(cells, duration(steps*b.Time))
		}
		if p.Cluster.Price > 0 {
			cells = append(cells, money(b.Cost*cmp.Or(steps, 1000)))
		}
		r.Row(append(cells, limit)...)
	}
}

// money formats a price with at least two significant digits.
func money(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.2g", v)
	}
	return quantity.Count(int(math.Round(v)))
}

func (p *Plan) costOf() string {
	if p.Examples > 0 {
		return "training"
	}
	return "1000 steps"
}

// duration formats seconds that may be months.
func duration(seconds float64) string {
	const hour, day = 3600, 24 * 3600
	switch {
	case seconds >= 100*day:
		return fmt.Sprintf("%.0f days", seconds/day)
	case seconds >= 2*day:
		return fmt.Sprintf("%.1f days", seconds/day)
	case seconds >= 2*hour:
		return fmt.Sprintf("%.1f h", seconds/hour)
	}
	return quantity.Elapsed(time.Duration(seconds * float64(time.Second)))
}
