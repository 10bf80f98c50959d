package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

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

// Mermaid returns the graph as a flowchart in the language of Mermaid, which Jupyter and GitHub draw in Markdown between
// lines with ```mermaid and ```.
func (g *ModelGraph) Mermaid() string {
	rows, folds := g.rows()
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	indent := "  "
	for i, r := range rows {
		if r.fold >= 0 && folds[r.fold].first == i {
			fmt.Fprintf(&b, "  subgraph block%d[\"× %d\"]\n", r.fold, folds[r.fold].times)
			indent = "    "
		}
		label := strings.TrimSpace(r.node.Path+" "+r.node.Layer) + "<br>" + r.node.details()
		fmt.Fprintf(&b, "%sn%d[\"%s\"]\n", indent, i, strings.NewReplacer(`"`, "#quot;", "[", "#91;", "]", "#93;").Replace(label))
		if r.fold >= 0 && folds[r.fold].last == i {
			b.WriteString("  end\n")
			indent = "  "
		}
	}
	for i, r := range rows {
		for _, in := range r.in {
			fmt.Fprintf(&b, "  n%d --> n%d\n", in, i)
		}
	}
	return b.String()
}
