package prof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Alignment says which layers have sizes that are slow on tensor cores; [Report.Alignment] returns it. It displays
// itself as a table.
type Alignment struct {
	DType    tensor.DType // in which the layers would multiply
	Multiple int          // number of elements in 16 bytes, of which sizes should be a multiple
	Rows     []Misaligned // in descending order of Share; empty if all sizes are multiples
}

// Misaligned is a size of a layer's matrix multiplications that is not a multiple of 16 bytes.
type Misaligned struct {
	Layer string  // "5 Dense(10)"; the op for multiplications outside of layers
	Size  int     // that is no multiple
	Of    string  // what the size is: "outputs", "inputs", "rows", "output channels", "input channels" or "head size"
	Share float64 // of a step that the matrix multiplications of the layer take, forward and backward, from 0 to 1
}

// tensorCoreBytes is the alignment for which tensor cores are most efficient: the sizes M, N and K of a matrix
// multiplication should be multiples of 16 bytes, 8 elements of 16 bits, 4 of TF32 and 16 of 8 bits (NVIDIA, Matrix
// Multiplication Background User's Guide, Tensor Core Requirements).
const tensorCoreBytes = 16

// imageChannels is the number of channels up to which an input of a convolution is an image: they are given by the
// data, and libraries have kernels for them.
const imageChannels = 4

// Alignment returns the sizes of layers that are not multiples of 16 bytes in an element type: tensor.Float16 or
// BFloat16, Float8E4M3 or Float8E5M2, or Float32 for TF32 (accel.AllowTF32). It answers for any device, and whatever
// type the profiled steps had: on a CPU it shows what a GPU would have to pad. A size costs only what its layer takes:
// [Report.Hints] names it on a GPU if that is a tenth of a step or more, so not a small last layer with one output per
// class. For a type that layers do not multiply on tensor cores, such as integers, Multiple is 0 and there are no
// rows.
func (r *Report) Alignment(d tensor.DType) *Alignment {
	r.exists("Alignment")
	if !d.IsFloat() && !d.IsFP8() {
		return &Alignment{DType: d}
	}
	a := &Alignment{DType: d, Multiple: tensorCoreBytes / d.Size()}
	spent := map[string]float64{}
	for _, o := range r.Ops {
		if len(o.in) > 0 && multiplies(o.op) {
			spent[o.owner()] += o.length()
		}
	}
	total, seen := max(r.total().Seconds(), 1e-12), map[Misaligned]bool{}
	for _, o := range r.Ops {
		if o.Phase != Forward {
			continue // the gradients have the same sizes
		}
		for _, s := range misaligned(o.op, shapesOf(o.in), a.Multiple) {
			m := Misaligned{Layer: o.owner(), Size: s.size, Of: s.of, Share: spent[o.owner()] / total}
			if !seen[m] {
				seen[m] = true
				a.Rows = append(a.Rows, m)
			}
		}
	}
	slices.SortStableFunc(a.Rows, func(x, y Misaligned) int { return cmp.Compare(y.Share, x.Share) })
	return a
}

// owner returns the layer of an op, or without one its name.
func (o Op) owner() string { return cmp.Or(o.Layer, o.Name) }

// length returns the time of an op in seconds.
func (o Op) length() float64 { return (o.End - o.Begin).Seconds() }

func shapesOf(in []trace.Operand) [][]int {
	shapes := make([][]int, len(in))
	for i, o := range in {
		shapes[i] = o.Shape
	}
	return shapes
}

// multiplies reports whether an op, or a gradient of one, multiplies matrices.
func multiplies(op string) bool {
	for _, name := range []string{"Linear", "MatMul", "Conv", "Attention"} {
		if strings.HasPrefix(op, name) {
			return true
		}
	}
	return false
}

// side is a size of a matrix multiplication.
type side struct {
	size int
	of   string
}

// misaligned returns the sizes of an op that are not multiples. shapes are those of its operands.
func misaligned(op string, shapes [][]int, multiple int) []side {
	var sides []side
	if len(shapes) < 2 || len(shapes[0]) == 0 || len(shapes[1]) == 0 {
		return nil
	}
	x, w := shapes[0], shapes[1]
	last := len(x) - 1
	switch {
	case op == "Linear" && len(w) == 2: // x [… K], w [N, K]
		rows := 1
		for _, n := range x[:last] {
			rows *= n
		}
		sides = []side{{w[0], "outputs"}, {w[1], "inputs"}, {rows, "rows"}}
	case op == "MatMul" && last >= 1 && len(w) >= 2: // [… M, K] and [… K, N]
		sides = []side{{w[len(w)-1], "outputs"}, {x[last], "inputs"}, {x[last-1], "rows"}}
	case op == "Conv2D" && len(x) == 4 && len(w) == 4: // w [O, C/groups, kernel]; a depthwise one multiplies no matrices
		if groups := x[1] / max(w[1], 1); groups > 1 && w[1] == 1 {
			break
		} else if sides = []side{{w[0] / max(groups, 1), "output channels"}}; w[1] > imageChannels || groups > 1 {
			sides = append(sides, side{w[1], "input channels"})
		}
	case op == "ConvTranspose2D" && len(x) == 4 && len(w) == 4: // w [C, O/groups, kernel]
		sides = []side{{w[1], "output channels"}, {w[0], "input channels"}}
	case op == "Attention": // queries [N, heads, T, head size]
		sides = []side{{x[last], "head size"}}
	}
	return slices.DeleteFunc(sides, func(s side) bool { return s.size%multiple == 0 })
}

// alignmentHint adds a hint about sizes on a GPU that take much of a step.
func (r *Report) alignmentHint(say func(format string, values ...any)) {
	if r.Device == "cpu" {
		return
	}
	d, name := tensor.Float32, "TF32 numbers"
	switch {
	case slices.ContainsFunc(r.Ops, func(o Op) bool { return o.float16 && multiplies(o.op) }):
		d, name = tensor.Float16, "16-bit floats"
	case !r.tf32:
		return // no tensor cores
	}
	a := r.Alignment(d)
	var first []Misaligned // of the layers that cost
	for _, m := range a.Rows {
		if m.Share >= muchMisaligned && (len(first) == 0 || m.Layer == first[0].Layer) {
			first = append(first, m)
		}
	}
	if len(first) == 0 {
		return
	}
	var sizes []string
	for _, m := range first {
		sizes = append(sizes, fmt.Sprintf("%d %s", m.Size, m.Of))
	}
	say("%q takes %.0f %% of a step with %s, not a multiple of %d: tensor cores are most efficient if each size is a multiple of 16 bytes, %d %s. Report.Alignment lists all layers.",
		first[0].Layer, 100*first[0].Share, strings.Join(sizes, ", "), a.Multiple, a.Multiple, name)
}

// about describes the alignment in one sentence.
func (a *Alignment) about() string {
	if a.Multiple == 0 {
		return fmt.Sprintf("Layers do not multiply %s on tensor cores.", a.name())
	}
	if len(a.Rows) == 0 {
		return fmt.Sprintf("All sizes are multiples of %d, 16 bytes of %s.", a.Multiple, a.name())
	}
	return fmt.Sprintf("Tensor cores are most efficient if sizes are multiples of %d, 16 bytes of %s.", a.Multiple, a.name())
}

func (a *Alignment) name() string {
	if a.DType == tensor.Float32 {
		return "TF32"
	}
	return a.DType.String()
}

// Report returns the table.
func (a *Alignment) Report() *display.Report {
	out := new(display.Report)
	if len(a.Rows) > 0 {
		out.Table("layer", "", "size", "next multiple", "share of a step")
	}
	for _, m := range a.Rows {
		out.Row(m.Layer, m.Of, m.Size, (m.Size+a.Multiple-1)/a.Multiple*a.Multiple, fmt.Sprintf("%.1f %%", 100*m.Share))
	}
	return out.Text(a.about())
}

// String returns the table as text.
func (a *Alignment) String() string { return a.Report().String() }
