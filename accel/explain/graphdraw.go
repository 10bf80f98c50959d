package explain

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/picture"
)

// Sizes of the drawing in CSS pixels.
const (
	graphLetter = 7.3 // width of a letter of the monospaced font at 12 px, and a little more
	graphSmall  = 6.1 // at 10 px
	graphHeight = 38. // of a layer
	graphStep   = 54. // from one layer to the next
	graphLane   = 12. // between connections beside the layers
	graphMargin = 8.  // around everything
	graphBlock  = 44. // beside the layers, for the number of repetitions
	graphLabel  = 48  // letters of a layer
	graphRadius = 4.  // of corners
	graphInk    = "#1b1e23"
	graphLight  = "#e6e8eb"
)

// beside is a connection that runs beside the layers.
type beside struct{ from, to, lane int }

// connections returns the connections between rows that do not follow each other, each in a lane in which it meets no other
// one, short ones inside.
func connections(rows []graphRow) (all []beside, lanes int) {
	for i, r := range rows {
		for _, in := range r.in {
			if in != i-1 && in != i {
				all = append(all, beside{from: in, to: i})
			}
		}
	}
	for length := 2; length <= len(rows); length++ {
		for k := range all {
			c := &all[k]
			if c.to-c.from != length {
				continue
			}
			for c.lane = 1; meets(all, k); c.lane++ {
			}
			lanes = max(lanes, c.lane)
		}
	}
	return all, lanes
}

// meets reports whether a connection runs along another one in its lane.
func meets(all []beside, k int) bool {
	for i, c := range all {
		if i != k && c.lane == all[k].lane && c.from < all[k].to && all[k].from < c.to && (c.from != all[k].from || c.to != all[k].to) {
			return true
		}
	}
	return false
}

// SVG returns the drawing as an SVG file. It has no color of its own but for the frames of repeated blocks: text and lines
// have the color of the text around it, or that of the system's theme.
func (g *ModelGraph) SVG() string {
	svg, _ := g.draw()
	return svg
}

// draw returns the drawing and its width.
func (g *ModelGraph) draw() (svg string, width float64) {
	rows, folds := g.rows()
	sides, lanes := connections(rows)
	box, path := 0., 0.
	for _, r := range rows {
		box = max(box, graphLetter*float64(utf8.RuneCountInString(shortened(r.node.Layer)))+20, graphSmall*float64(utf8.RuneCountInString(r.node.details()))+20)
		path = max(path, graphSmall*float64(utf8.RuneCountInString(r.node.Path)))
	}
	left := graphMargin
	if len(folds) > 0 {
		left += graphBlock
	}
	x := left + path + 10 // left edge of the layers
	width = x + box + graphLane*float64(lanes+1) + graphMargin
	height := 2*graphMargin + graphStep*float64(len(rows)) - (graphStep - graphHeight)
	top := func(row int) float64 { return graphMargin + graphStep*float64(row) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="quern" role="img" aria-label="%s" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="12">`+"\n",
		html.EscapeString(g.about()), width, height, width, height)
	fmt.Fprintf(&b, "<style>.quern:root{color:%s}@media(prefers-color-scheme:dark){.quern:root{color:%s}}</style>\n", graphInk, graphLight)
	for _, f := range folds {
		y, bottom := top(f.first)-5, top(f.last)+graphHeight+5
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="#4269d0" fill-opacity=".1"/>`+"\n", left-6, y, x+box+8-left+6, bottom-y)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="currentColor" font-weight="bold">× %d</text>`+"\n", graphMargin, (y+bottom)/2+4, f.times)
	}
	for i, r := range rows {
		y := top(i)
		for _, in := range r.in {
			if in == i-1 {
				arrow(&b, fmt.Sprintf("M%.1f %.1fV%.1f", x+box/2, y-(graphStep-graphHeight), y-1), x+box/2, y-1, 0, 1)
			}
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.0f" fill="currentColor" fill-opacity="%s" stroke="currentColor" stroke-opacity=".5"><title>%s</title></rect>`+"\n",
			x, y, box, graphHeight, graphRadius, map[bool]string{true: ".1", false: ".03"}[r.node.Parameters+r.node.Frozen > 0], html.EscapeString(r.node.Layer))
		label(&b, x+box/2, y+16, 12, "middle", 1, shortened(r.node.Layer))
		label(&b, x+box/2, y+30, 10, "middle", .75, r.node.details())
		if r.node.Path != "" {
			label(&b, x-6, y+graphHeight/2+3, 10, "end", .6, r.node.Path)
		}
	}
	for _, c := range sides {
		at, from, to := x+box+graphLane*float64(c.lane)+2, top(c.from)+graphHeight/2+6, top(c.to)+graphHeight/2-6
		arrow(&b, fmt.Sprintf("M%.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1f", x+box, from, at-graphRadius, at, from, at, from+graphRadius,
			to-graphRadius, at, to, at-graphRadius, to, x+box+1), x+box+1, to, -1, 0)
	}
	b.WriteString("</svg>\n")
	return b.String(), width
}

// arrow draws a line whose end points in a direction.
func arrow(b *strings.Builder, line string, x, y, dx, dy float64) {
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="currentColor" stroke-opacity=".7"/>`+"\n", line)
	const length, half = 6, 3
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1fL%.1f %.1fz" fill="currentColor" fill-opacity=".7"/>`+"\n",
		x, y, x-dx*length-dy*half, y-dy*length-dx*half, x-dx*length+dy*half, y-dy*length+dx*half)
}

func label(b *strings.Builder, x, y float64, size int, anchor string, opacity float64, text string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s" fill="currentColor" fill-opacity="%g">%s</text>`+"\n", x, y, size, anchor, opacity, html.EscapeString(text))
}

// shortened cuts a long layer.
func shortened(layer string) string {
	letters := []rune(layer)
	if len(letters) <= graphLabel {
		return layer
	}
	return string(letters[:graphLabel-1]) + "…"
}

// MIMEBundle returns the drawing, and the graph as text.
func (g *ModelGraph) MIMEBundle() map[string]any {
	svg, width := g.draw()
	return map[string]any{
		"text/plain":    g.String(),
		"image/svg+xml": svg,
		"text/html":     picture.HTML(svg, g.about(), int(width+0.5)),
	}
}

// Parameters returns the number of trained values.
func (g *ModelGraph) Parameters() (sum int) {
	for _, n := range g.Nodes {
		sum += n.Parameters
	}
	return sum
}

// details returns what a node returns, and its parameters.
func (n GraphNode) details() string {
	text := fmt.Sprint(n.Shape)
	if n.DType != tensor.Float32 {
		text += " " + n.DType.String()
	}
	if p := n.weights(); p != "" {
		text += " · " + p
	}
	return text
}

// weights describes the parameters.
func (n GraphNode) weights() string {
	switch {
	case n.Parameters > 0 && n.Frozen > 0:
		return fmt.Sprintf("%s parameters, %s frozen", display.Integer(n.Parameters), display.Integer(n.Frozen))
	case n.Frozen > 0:
		return display.Integer(n.Frozen) + " frozen"
	case n.Parameters > 0:
		return display.Integer(n.Parameters) + " parameters"
	}
	return ""
}

// about describes the graph in a line.
func (g *ModelGraph) about() string {
	return fmt.Sprintf("%d layers, %s parameters", len(g.Nodes)-1, display.Integer(g.Parameters()))
}

// String returns the layers as a table. Column "from" has the layers whose outputs a layer takes, unless that is only the
// one above, and column "times" says how often a block is repeated.
func (g *ModelGraph) String() string {
	rows, folds := g.rows()
	out := new(display.Report).Table("", "layer", "output", "parameters", "from", "times")
	for i, r := range rows {
		var from []string
		for _, in := range r.in {
			from = append(from, strings.TrimSpace(rows[in].node.Path+" "+rows[in].node.Layer))
		}
		if i == 0 || slices.Equal(r.in, []int{i - 1}) {
			from = nil
		}
		times, count := "", ""
		if r.fold >= 0 {
			times = fmt.Sprint("× ", folds[r.fold].times)
		}
		if n := r.node.Parameters + r.node.Frozen; n > 0 {
			count = display.Integer(n)
		}
		out.Row(r.node.Path, r.node.Layer, fmt.Sprint(r.node.Shape), count, strings.Join(from, " + "), times)
	}
	return out.Text(g.about()).String()
}
