package nn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/quantity"
)

// SummaryTable is a table of the layers of a model; [Summary] returns it. It displays itself.
type SummaryTable struct {
	Input []int        // shape of one example
	Rows  []SummaryRow // in the order in which the layers run
	// Err is the error that ended the forward pass early; nil for a complete table.
	Err error
}

// SummaryRow is one layer in a [SummaryTable].
type SummaryRow struct {
	Path       string // index of the layer; "1.0" in a nested chain
	Layer      string // as a Go expression, such as Dense(10)
	Output     []int  // shape of one example of the output
	Parameters int    // number of trained values
	Frozen     int    // number of frozen values
	// FLOPs is the number of floating-point operations of the layer's matrix multiplications
	// and convolutions in the forward pass of one example; other operations are negligible.
	FLOPs int
	// DType is the element type of the output: a 16-bit type if Summary is called in
	// [tensor.Autocast].
	DType tensor.DType
	// Ops are the operations of the layer with their element types.
	Ops []tensors.RecordedOp
}

// Summary runs one example of zeros with the given shape through a model, and lists the output
// shape, the parameters and the FLOPs of each layer. Layers that have not seen an input yet
// create their parameters. The model is in evaluation mode during the call, and in training
// mode afterwards.
//
// In [tensor.Autocast] or [tensor.AutocastFP8] the table also shows the types in which each
// layer computes, and their shares of the FLOPs:
//
//	tensor.Autocast(tensor.BFloat16, func() { table = nn.Summary(model, 1, 28, 28) })
func Summary(model Module, shape ...int) *SummaryTable {
	t := &SummaryTable{Input: append([]int{}, shape...)}
	Train(model, false)
	defer Train(model, true)
	tensor.NoGrad(func() { t.Err = t.run(model, shape) })
	return t
}

func (t *SummaryTable) run(model Module, shape []int) (err error) {
	defer Catch(&err)
	if model == nil {
		return &tensor.StateError{Op: "Summary", Hint: "the model is nil"}
	}
	x := tensor.Zeros(append([]int{1}, shape...)...)
	counted := map[*Tensor]bool{}
	if c, ok := model.(*SequentialLayer); ok {
		t.chain("", c, x, counted)
		return nil
	}
	var y *Tensor
	ops := tensors.RecordOps(func() { y = model.Forward(x) })
	t.layer("", model, y, ops, counted)
	return nil
}

// chain adds the layers of a chain and of nested chains, and returns the output. path is the
// index of the chain with a dot at its end.
func (t *SummaryTable) chain(path string, c *SequentialLayer, x *Tensor, counted map[*Tensor]bool) *Tensor {
	for i, layer := range c.layers {
		number := path + strconv.Itoa(i)
		switch inner := layer.(type) {
		case *SequentialLayer:
			x = t.chain(number+".", inner, x, counted)
			continue
		case *residual:
			y := t.chain(number+".", inner.chain, x, counted)
			x = forward(number, &shortcut{inner, y}, x)
			continue
		}
		var y *Tensor
		ops := tensors.RecordOps(func() { y = forward(number, layer, x) })
		t.layer(number, layer, y, ops, counted)
		x = y
	}
	return x
}

// layer adds a row. A tensor that layers share counts for the first one only.
func (t *SummaryTable) layer(path string, m Module, y *Tensor, ops []tensors.RecordedOp, counted map[*Tensor]bool) {
	r := SummaryRow{Path: path, Layer: describe(m), Output: example(y), DType: y.DType(), Ops: ops}
	for _, op := range ops {
		r.FLOPs += op.FLOPs
	}
	walk(m, func(_ []string, v any) {
		if n, ok := v.(interface{ buffers() []*Tensor }); ok {
			for _, p := range n.buffers() {
				counted[p] = true // neither trained nor frozen
			}
		}
		p, ok := v.(*Tensor)
		switch {
		case !ok || counted[p]:
			return
		case p.RequiresGrad():
			r.Parameters += p.Numel()
		default:
			r.Frozen += p.Numel()
		}
		counted[p] = true
	})
	t.Rows = append(t.Rows, r)
}

// shortcut is the end of a residual, whose inner layers have computed y.
type shortcut struct {
	*residual
	y *Tensor
}

func (s *shortcut) Forward(x *Tensor) *Tensor { return x.Add(s.y) }

// example returns the shape of one example of a tensor.
func example(t *Tensor) []int {
	if s := t.Shape(); len(s) > 0 {
		return s[1:]
	}
	return nil
}

// FLOPs returns the number of floating-point operations of all layers for the forward pass of
// one example.
func (t *SummaryTable) FLOPs() int { return t.sum(func(r SummaryRow) int { return r.FLOPs }) }

// Parameters returns the number of trained values.
func (t *SummaryTable) Parameters() int {
	return t.sum(func(r SummaryRow) int { return r.Parameters })
}

// sum adds up a value of all rows.
func (t *SummaryTable) sum(of func(r SummaryRow) int) int {
	n := 0
	for _, r := range t.Rows {
		n += of(r)
	}
	return n
}

// total returns the line below the table.
func (t *SummaryTable) total() string {
	text := display.Integer(t.Parameters()) + " parameters"
	if n := t.sum(func(r SummaryRow) int { return r.Frozen }); n > 0 {
		text += fmt.Sprintf(" and %s frozen", display.Integer(n))
	}
	if n := t.FLOPs(); n > 0 {
		text += fmt.Sprintf(", %s FLOPs per example", quantity.Count(n)) + t.shares()
	}
	if t.Err != nil {
		text += fmt.Sprintf("; stopped by an error: %v", t.Err)
	}
	return text
}

// Report returns the table.
func (t *SummaryTable) Report() *display.Report {
	columns := []string{"", "layer", "output", "parameters"}
	frozen, cast := t.sum(func(r SummaryRow) int { return r.Frozen }) > 0, t.cast()
	if frozen {
		columns = append(columns, "frozen")
	}
	columns = append(columns, "FLOPs")
	if cast {
		columns = append(columns, "computes in")
	}
	some := func(n int, format func(int) string) string {
		if n == 0 {
			return ""
		}
		return format(n)
	}
	out := new(display.Report).Table(columns...).Row("", "input", fmt.Sprint(t.Input))
	for _, r := range t.Rows {
		row := []any{r.Path, r.Layer, fmt.Sprint(r.Output), some(r.Parameters, display.Integer)}
		if frozen {
			row = append(row, some(r.Frozen, display.Integer))
		}
		row = append(row, some(r.FLOPs, quantity.Count))
		if cast {
			row = append(row, r.types())
		}
		out.Row(row...)
	}
	return out.Text(t.total())
}

// String returns the table as text.
func (t *SummaryTable) String() string { return t.Report().String() }

// cast reports whether any layer computes in or returns another type than float32.
func (t *SummaryTable) cast() bool {
	for _, r := range t.Rows {
		if r.DType != tensor.Float32 || slices.ContainsFunc(r.Ops, func(c tensors.RecordedOp) bool { return c.DType != tensor.Float32 }) {
			return true
		}
	}
	return false
}

// types returns the types in which the layer computes: that of its operation with the most
// FLOPs first, then the others with their operations.
func (r SummaryRow) types() string {
	if len(r.Ops) == 0 {
		return r.DType.String() // it only moves elements
	}
	heaviest := slices.MaxFunc(r.Ops, func(a, b tensors.RecordedOp) int { return cmp.Compare(a.FLOPs, b.FLOPs) })
	text := heaviest.DType.String()
	names := map[tensor.DType][]string{}
	for _, op := range r.Ops {
		if !slices.Contains(names[op.DType], op.Op) {
			names[op.DType] = append(names[op.DType], op.Op)
		}
	}
	delete(names, heaviest.DType)
	for _, op := range r.Ops {
		if others := names[op.DType]; others != nil {
			text += fmt.Sprintf("; %s in %s", strings.Join(others, ", "), op.DType)
			delete(names, op.DType)
		}
	}
	return text
}

// shares returns the shares of the FLOPs in each type; "" if all are float32.
func (t *SummaryTable) shares() string {
	if !t.cast() {
		return ""
	}
	work, all := map[tensor.DType]int{}, 0
	for _, r := range t.Rows {
		for _, op := range r.Ops {
			work[op.DType] += op.FLOPs
			all += op.FLOPs
		}
	}
	var parts []string
	for _, d := range []tensor.DType{tensortype.Float8E4M3, tensor.BFloat16, tensor.Float16, tensor.Float32, tensor.Float64} {
		if work[d] > 0 {
			parts = append(parts, fmt.Sprintf("%.3g %% in %s", 100*float64(work[d])/float64(all), d))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// Flatten returns a layer that merges all dimensions after the first: [N, 1, 28, 28] becomes
// [N, 784].
func Flatten() Module { return &flatten{} }

type flatten struct{}

func (*flatten) Forward(x *Tensor) *Tensor {
	if x.NDim() == 2 {
		return x
	}
	return x.Flatten(1)
}

func (*flatten) String() string       { return "Flatten()" }
func (*flatten) retainsNothing() bool { return true }
func (*flatten) Layer() any           { return layer.Flatten{} }

// Unflatten returns a layer that divides the dimension after the first into several, the inverse of [Flatten]: with
// Unflatten(1, 28, 28), [N, 784] becomes [N, 1, 28, 28]. It is Keras' Reshape, and PyTorch's Unflatten(1, …). Inputs
// have two dimensions. It panics with a *tensor.ShapeError for a size below 1.
func Unflatten(sizes ...int) Module {
	for _, n := range sizes {
		requireArgument(n > 0, "Unflatten", fmt.Sprintf("the sizes %v must be positive", sizes))
	}
	requireArgument(len(sizes) > 0, "Unflatten", "it needs at least one size")
	return &unflatten{slices.Clone(sizes)}
}

type unflatten struct{ sizes []int }

func (u *unflatten) Forward(x *Tensor) *Tensor {
	if shape := x.Shape(); len(shape) != 2 || shape[1] != product(u.sizes) {
		panic(&tensor.ShapeError{Op: "Unflatten", Shapes: [][]int{shape}, Hint: fmt.Sprintf("%v takes [N %d]", u, product(u.sizes))})
	}
	return x.Reshape(append([]int{x.Size(0)}, u.sizes...)...)
}

func (u *unflatten) String() string {
	return "Unflatten(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(u.sizes), " ", ", "), "[]") + ")"
}
func (*unflatten) retainsNothing() bool { return true }

// Pack combines several tensors [N, …] into one, [N, total], with the values of each example one
// after the other. A model with several outputs returns them packed; the loss function divides
// them with [Unpack]. The tensors must have the same number of examples and element type.
func Pack(tensors ...*Tensor) *Tensor {
	requireArgument(len(tensors) > 0, "Pack", "there are no tensors")
	flat := make([]*Tensor, len(tensors))
	for i, t := range tensors {
		if t.NDim() == 0 || t.Size(0) != tensors[0].Size(0) {
			panic(&tensor.ShapeError{Op: "Pack", Shapes: [][]int{tensors[0].Shape(), t.Shape()}, Hint: "the tensors must have the same number of examples in the first dimension"})
		}
		flat[i] = t.Reshape(t.Size(0), product(t.Shape()[1:]))
	}
	return tensor.Concat(1, flat...)
}

// Unpack divides a tensor that [Pack] or data.Inputs has combined: x [N, total] into tensors
// [N, shape…], one for each shape of an example.
func Unpack(x *Tensor, shapes ...[]int) []*Tensor {
	total := 0
	for _, s := range shapes {
		total += product(s)
	}
	if x.NDim() != 2 || x.Size(1) != total {
		panic(&tensor.ShapeError{Op: "Unpack", Shapes: [][]int{x.Shape()}, Hint: fmt.Sprintf("examples of the shapes %v have %d values together, so x must be [N %d]", shapes, total, total)})
	}
	parts := make([]*Tensor, len(shapes))
	at := 0
	for i, s := range shapes {
		part := x.Slice(1, at, at+product(s))
		at += product(s)
		parts[i] = part.Reshape(append([]int{x.Size(0)}, s...)...)
	}
	return parts
}

// Bilinear makes [Upsample] interpolate images [N, C, H, W] linearly instead of repeating pixels.
func Bilinear() Option {
	return Option{option.New(func(o *options) { o.bilinear = true }, "Bilinear")}
}

// Upsample returns a layer that multiplies the size of each dimension after the second by scale:
// [N, C, H, W] becomes [N, C, scale·H, scale·W]. It repeats the nearest element, as PyTorch's
// Upsample does by default; with [Bilinear] it interpolates as PyTorch does with
// align_corners=False.
func Upsample(scale int, given ...Option) Module {
	o, compute := options{}.read("Upsample", given, "Bilinear"), tensor.UpsampleNearest
	if o.bilinear {
		compute = tensor.UpsampleBilinear
	}
	return &activation{o.call("Upsample", scale), func(x *Tensor) *Tensor { return compute(x, scale) }}
}
