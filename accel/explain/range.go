package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Quantity is a kind of tensors of a training step.
type Quantity string

// The quantities.
const (
	Weights         Quantity = "weights"
	Outputs         Quantity = "outputs"
	WeightGradients Quantity = "gradients of weights"
	OutputGradients Quantity = "gradients of outputs"
)

// Range returns which numbers of a model become 0 or overflow in each floating-point type: of the weights and outputs
// of each layer, and of their gradients. It runs one step in float32, without an update, and rounds each element.
// Matrix multiplications add up in float32 in all types, so sums within a layer do not overflow.
//
// The examples are one batch, at most 512 of the data set. The loss is their mean, so gradients are the smaller the
// larger the batch is: pass train.First(64) for a training with batches of 64. loss is as in [GradientFlow]. The model
// is in evaluation mode: train it first if it has BatchNorm, whose statistics are unknown before.
//
// Layers are those of an nn.Sequential, at any depth; a model of another type is one layer. A value that is NaN or
// infinite in float32 is an error that wraps a *tensor.NonFiniteError.
func Range(ctx context.Context, model nn.Module, set *data.Dataset, loss nn.Loss) (t *RangeTable, err error) {
	if err := interrupt.RequireContext(ctx, "explain: Range"); err != nil {
		return nil, err
	}
	const call = "Range"
	if err := check(call, model, set); err != nil {
		return nil, err
	}
	p := &probes{}
	forward := func(x *tensor.Tensor) *tensor.Tensor { return p.model(model, x) }
	err = backward(call, model, set, loss, forward, func(_ []nn.Parameter, examples int, loss float64) error {
		measured := &RangeTable{Dataset: set.Name(), Examples: examples, Loss: loss, LossScale: optim.NewGradScaler().LossScale()}
		if err := measured.measure(ctx, p.layers); err != nil {
			return fmt.Errorf("explain: %s: %w", call, err)
		}
		t = measured
		return nil
	})
	return t, err
}

// probes runs a model layer by layer and keeps what each has computed.
type probes struct{ layers []probed }

// probed is a layer that was run.
type probed struct {
	name       string
	parameters []nn.Parameter
	output     *tensor.Tensor
	probe      *tensor.Tensor // zeros added to the output: their gradient is that of the output; nil if it has none
}

// model runs a model on x.
func (p *probes) model(m nn.Module, x *tensor.Tensor) *tensor.Tensor {
	p.layers = append(p.layers, probed{name: "input", output: x})
	if chain, ok := m.(*nn.SequentialLayer); ok {
		return p.chain("", chain, x)
	}
	return p.layer("", m, m.Forward, x)
}

// chain runs the layers of a chain and of the chains in it. path is the index of the chain with a dot at its end.
func (p *probes) chain(path string, chain *nn.SequentialLayer, x *tensor.Tensor) *tensor.Tensor {
	for i, m := range chain.Layers() {
		number := path + fmt.Sprint(i)
		if inner, ok := m.(*nn.SequentialLayer); ok {
			x = p.chain(number+".", inner, x)
			continue
		}
		if s, ok := layer.Of(m).(layer.Shortcut); ok {
			if inner, ok := s.Chain.(*nn.SequentialLayer); ok {
				y := p.chain(number+".", inner, x)
				x = p.layer(number, nil, x.Add, y)
				continue
			}
		}
		x = p.layer(number, m, nn.Sequential(m).Forward, x)
	}
	return x
}

// layer runs one layer; without a module it is the sum at the end of an nn.Residual.
func (p *probes) layer(path string, m nn.Module, forward func(*tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) *tensor.Tensor {
	l := probed{name: path + " Residual", output: at(path, func() *tensor.Tensor { return forward(x) })}
	if m != nil { // its parameters exist now
		l.name, l.parameters = strings.TrimSpace(path+" "+layer.Name(m)), nn.NamedParameters(m)
	}
	y := l.output
	if y.DType().IsFloat() && y.RequiresGrad() {
		l.probe = tensor.Parameter(tensor.Zeros(y.Shape()...).Cast(y.DType()))
		y = y.Add(l.probe)
	}
	p.layers = append(p.layers, l)
	return y
}

// at runs the layer with an index of the model, which an error names.
func at(path string, forward func() *tensor.Tensor) (y *tensor.Tensor) {
	var err error
	func() {
		defer nn.Catch(&err)
		y = forward()
	}()
	if wrong := (*nn.LayerError)(nil); errors.As(err, &wrong) && path != "" {
		_, inner, _ := strings.Cut(wrong.Path, ".") // of the layer as the only one of a chain
		panic(&nn.LayerError{Path: strings.TrimSuffix(path+"."+inner, "."), Layer: wrong.Layer, Err: wrong.Err})
	}
	if err != nil {
		panic(err)
	}
	return y
}

// measure adds the rows of layers that were run.
func (t *RangeTable) measure(ctx context.Context, layers []probed) error {
	for _, l := range layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		var weights, gradients []*tensor.Tensor
		for _, p := range l.parameters {
			if weights = append(weights, p.Tensor); p.Grad() != nil {
				gradients = append(gradients, p.Grad())
			}
		}
		of := map[Quantity][]*tensor.Tensor{Weights: weights, WeightGradients: gradients}
		if l.output.DType().IsFloat() {
			of[Outputs] = []*tensor.Tensor{l.output}
		}
		if l.probe != nil && l.probe.Grad() != nil {
			of[OutputGradients] = []*tensor.Tensor{l.probe.Grad()}
		}
		for _, q := range []Quantity{Weights, Outputs, WeightGradients, OutputGradients} {
			if len(of[q]) == 0 {
				continue
			}
			row, err := t.row(l.name, q, of[q])
			if err != nil {
				return err
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return nil
}

// row measures the tensors of a layer.
func (t *RangeTable) row(name string, q Quantity, tensors []*tensor.Tensor) (LayerRange, error) {
	r := LayerRange{Layer: name, Of: q}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensortype.Float8E4M3, tensortype.Float8E5M2} {
		r.Lost = append(r.Lost, Lost{DType: d, Scale: 1})
		if d.IsFP8() || d == tensor.Float16 && (q == WeightGradients || q == OutputGradients) {
			r.Lost = append(r.Lost, Lost{DType: d, Scaled: true, Scale: t.LossScale})
		}
	}
	for _, x := range tensors {
		values := x.Float64s()
		largest := 0.0
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return r, fmt.Errorf("layer %s: %w", name, &tensor.NonFiniteError{What: string(q), Element: i, Value: v})
			}
			largest = max(largest, math.Abs(v))
		}
		for i := range r.Lost {
			if l := &r.Lost[i]; l.Scaled && l.DType.IsFP8() { // a scale for each tensor
				l.Scale = math.Ldexp(1, tensortype.Float8Scale(l.DType, float32(largest)))
			}
		}
		r.add(values)
	}
	return r, nil
}

// add counts the elements of a tensor.
func (r *LayerRange) add(values []float64) {
	infos := make([]DTypeInfo, len(r.Lost))
	for k, l := range r.Lost {
		infos[k] = infoOf(l.DType)
	}
	for _, v := range values {
		m := math.Abs(v)
		r.Elements++
		if m == 0 {
			r.Zeros++
			continue
		}
		if r.Largest = max(r.Largest, m); r.Smallest == 0 || m < r.Smallest {
			r.Smallest = m
		}
		for k := range r.Lost {
			switch l, scaled := &r.Lost[k], m*r.Lost[k].Scale; {
			case infos[k].underflows(scaled):
				l.ToZero++
			case infos[k].overflows(scaled):
				l.TooLarge++
			}
		}
	}
}

// RangeTable is what [Range] measured. It displays itself as a table.
type RangeTable struct {
	Dataset   string       // name of the data set
	Examples  int          // that were used, at most 512
	Loss      float64      // mean over these examples
	LossScale float64      // of float16 gradients: that with which accel.AMP(accel.FP16) begins
	Rows      []LayerRange // in the order in which the layers run; the first is the input
}

// LayerRange describes the elements of some tensors of a layer.
type LayerRange struct {
	Layer             string   // index and Go code of the layer, such as "2 Dense(10)"
	Of                Quantity // which tensors
	Elements          int      // number of elements
	Zeros             int      // those that are 0 in float32
	Smallest, Largest float64  // magnitudes of the others; 0 if there are none
	Lost              []Lost   // for each type
}

// Lost is the number of elements that a type cannot represent.
type Lost struct {
	DType tensor.DType // to which elements are rounded
	// Scaled says that elements are multiplied before they are rounded: float16 gradients by the LossScale, and 8-bit
	// floats by a scale of each tensor, the largest power of two for which its largest element does not overflow, as in
	// tensor.AutocastFP8.
	Scaled   bool
	Scale    float64 // 1 unless scaled; of 8-bit floats that of the last tensor
	ToZero   int     // elements that are not 0 and become 0
	TooLarge int     // elements that overflow
}

// In returns what a type loses, with or without scaling. It is the zero value if that was not measured: float32, and
// scaled bfloat16, whose range is that of float32.
func (r LayerRange) In(d tensor.DType, scaled bool) Lost {
	for _, l := range r.Lost {
		if l.DType == d && l.Scaled == scaled {
			return l
		}
	}
	return Lost{}
}

// rangeColumn is a column for a type.
type rangeColumn struct {
	dtype  tensor.DType
	scaled bool
}

var rangeColumns = []rangeColumn{
	{tensor.Float16, false}, {tensor.Float16, true}, {tensor.BFloat16, false},
	{tensortype.Float8E4M3, false}, {tensortype.Float8E4M3, true}, {tensortype.Float8E5M2, false}, {tensortype.Float8E5M2, true},
}

func (t *RangeTable) heading(c rangeColumn) string {
	switch {
	case !c.scaled:
		return c.dtype.String()
	case c.dtype == tensor.Float16:
		return fmt.Sprintf("× %g", t.LossScale)
	}
	return "scaled"
}

// Report returns the table.
func (t *RangeTable) Report() *display.Report {
	columns := []string{"layer", "of", "smallest", "largest"}
	for _, c := range rangeColumns {
		columns = append(columns, t.heading(c))
	}
	out, last := new(display.Report).Table(columns...), ""
	for _, r := range t.Rows {
		name := r.Layer
		if name == last {
			name = ""
		}
		last = r.Layer
		row := []any{name, string(r.Of), fmt.Sprintf("%.2g", r.Smallest), fmt.Sprintf("%.2g", r.Largest)}
		for _, c := range rangeColumns {
			row = append(row, r.loss(c))
		}
		out.Row(row...)
	}
	return out.Text(fmt.Sprintf("%s, one batch of %d examples, loss %.4g; shares of the elements that are not 0", t.Dataset, t.Examples, t.Loss))
}

// loss describes what a type loses as shares of the elements that are not 0; "" if it was not measured.
func (r LayerRange) loss(c rangeColumn) string {
	l := r.In(c.dtype, c.scaled)
	if l.Scale == 0 {
		return ""
	}
	share := func(n int) string { return percentOf(n, r.Elements-r.Zeros) }
	switch {
	case l.ToZero > 0 && l.TooLarge > 0:
		return share(l.ToZero) + " → 0, " + share(l.TooLarge) + " too large"
	case l.ToZero > 0:
		return share(l.ToZero) + " → 0"
	case l.TooLarge > 0:
		return share(l.TooLarge) + " too large"
	}
	return "fits"
}

// percentOf formats a share; only all of them are 100 %.
func percentOf(n, all int) string {
	switch p := 100 * float64(n) / float64(all); {
	case n == all:
		return "100 %"
	case p < 10:
		return fmt.Sprintf("%.2g %%", p)
	default:
		return fmt.Sprintf("%.3g %%", min(p, 99.9))
	}
}

// String returns the table as text.
func (t *RangeTable) String() string { return t.Report().String() }

// DTypeTable is what [DTypes] returns. It displays itself as a table.
type DTypeTable struct {
	Rows []DTypeInfo // from the widest type to the narrowest
}

// DTypeInfo describes a floating-point type, with the quantities of torch.finfo.
type DTypeInfo struct {
	DType        tensor.DType // of package tensor
	Bytes        int          // of an element
	ExponentBits int          // besides a sign bit
	FractionBits int          // stored ones; a normal number has one more bit of precision
	// Epsilon is the distance from 1 to the next number. A result is rounded by at most Epsilon/2 of its size.
	Epsilon float64
	// Largest is the largest finite number. What rounds to more becomes infinite; E4M3 has no infinity, so there
	// it becomes NaN, or Largest if the conversion saturates.
	Largest float64
	// SmallestNormal is the smallest positive number with full precision.
	SmallestNormal float64
	// SmallestSubnormal is the smallest positive number. What is half of it or less becomes 0.
	SmallestSubnormal float64
}

// DTypes returns the range and the precision of the floating-point types in which layers compute: float32, the
// 16-bit types of accel.AMP, and the 8-bit types of tensor.AutocastFP8. float32 and float16 are binary32 and
// binary16 of IEEE 754-2019, bfloat16 is the upper half of a float32, and the 8-bit types are those of the OCP
// 8-bit Floating Point Specification, revision 1.0.
func DTypes() *DTypeTable {
	t := &DTypeTable{}
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensortype.Float8E4M3, tensortype.Float8E5M2} {
		t.Rows = append(t.Rows, infoOf(d))
	}
	return t
}

// infoOf describes a type by its bits.
func infoOf(d tensor.DType) DTypeInfo {
	switch d {
	case tensor.Float16:
		return newInfo(d, 5, 10)
	case tensor.BFloat16:
		return newInfo(d, 8, 7)
	case tensortype.Float8E4M3:
		info := newInfo(d, 4, 3)
		info.Largest = 448 // the exponent of all ones has numbers, too; only the largest fraction is NaN
		return info
	case tensortype.Float8E5M2:
		return newInfo(d, 5, 2)
	}
	return newInfo(tensor.Float32, 8, 23)
}

// newInfo describes a type as IEEE 754 defines it by the widths of its fields.
func newInfo(d tensor.DType, exponent, fraction int) DTypeInfo {
	bias := 1<<(exponent-1) - 1
	return DTypeInfo{
		DType: d, Bytes: d.Size(), ExponentBits: exponent, FractionBits: fraction,
		Epsilon:           math.Ldexp(1, -fraction),
		Largest:           math.Ldexp(2-math.Ldexp(1, -fraction), bias),
		SmallestNormal:    math.Ldexp(1, 1-bias),
		SmallestSubnormal: math.Ldexp(1, 1-bias-fraction),
	}
}

// overflows reports whether a magnitude rounds to more than the largest number. A tie rounds to the even fraction,
// which is the next power of two, but in E4M3 the largest number.
func (i DTypeInfo) overflows(magnitude float64) bool {
	_, exponent := math.Frexp(i.Largest)
	limit := i.Largest + math.Ldexp(1, exponent-2-i.FractionBits) // plus half the spacing
	if i.DType == tensortype.Float8E4M3 {
		return magnitude > limit
	}
	return magnitude >= limit
}

// underflows reports whether a magnitude that is not 0 rounds to 0.
func (i DTypeInfo) underflows(magnitude float64) bool {
	return magnitude > 0 && magnitude <= i.SmallestSubnormal/2
}

// Report returns the table.
func (t *DTypeTable) Report() *display.Report {
	out := new(display.Report).Table("type", "bytes", "exponent", "fraction", "spacing at 1", "largest", "smallest normal", "smallest")
	for _, r := range t.Rows {
		out.Row(r.DType.String(), r.Bytes, strconv.Itoa(r.ExponentBits)+" bits", strconv.Itoa(r.FractionBits)+" bits",
			magnitude(r.Epsilon), magnitude(r.Largest), magnitude(r.SmallestNormal), magnitude(r.SmallestSubnormal))
	}
	return out
}

// magnitude formats a number with three significant digits, or all of a number below a million with few.
func magnitude(v float64) string {
	if exact := strconv.FormatFloat(v, 'g', -1, 64); len(exact) <= 6 {
		return exact
	}
	return fmt.Sprintf("%.3g", v)
}

// String returns the table as text.
func (t *DTypeTable) String() string { return t.Report().String() }
