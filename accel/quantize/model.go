package quantize

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/integer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Model is a quantized model: a module for Predict and Evaluate; see [Static], [Weights] and
// [Load]. It has no trainable parameters.
type Model struct {
	of func() *quantized // a function, so that the parameters of the float model are not found
}

// kind is the kind of quantization.
type kind string

const (
	static  kind = "static"
	weights kind = "weights"
)

// quantized is the content of a Model.
type quantized struct {
	model    nn.Module
	kind     kind
	products []*product
	table    substitute.Table
	known    []known
}

// known is a tensor of the original model at the time of quantization.
type known struct {
	nn.Parameter
	was *tensor.Snapshot
}

// newModel returns a model whose layers have been quantized.
func newModel(model nn.Module, k kind, all []*product) (*Model, error) {
	q := &quantized{model: model, kind: k, products: all}
	some := false
	for _, p := range all {
		some = some || p.bytes != nil
	}
	if !some {
		return nil, ErrNothing
	}
	if k == static {
		q.table = build(model, all)
	} else {
		q.table = substitute.Table{}
		for _, p := range all {
			if p.bytes != nil {
				q.table[p.Weight] = p.wide()
			}
		}
	}
	for _, p := range nn.State(model) {
		q.known = append(q.known, known{p, p.Snapshot()})
	}
	return &Model{func() *quantized { return q }}, nil
}

// Forward computes like the float model in evaluation mode. It panics with a [*DeviceError] on
// a device other than the CPU, with a [*ChangedError] if the float model has changed, and, when
// the result is read, with a *tensor.NonFiniteError if the input of a quantized layer was not
// finite.
func (m *Model) Forward(x *tensor.Tensor) (y *tensor.Tensor) {
	if m == nil {
		panic(&tensor.StateError{Op: "quantize", Hint: "the model is nil: check the error returned where it was created"})
	}
	q := m.of()
	if err := onProcessor(); err != nil {
		panic(err)
	}
	if err := q.unchanged(); err != nil {
		panic(err)
	}
	tensor.NoGrad(func() {
		substitute.Within(q.table, func() { y = q.model.Forward(x) })
	})
	return y
}

// unchanged checks that the float model has not changed.
func (q *quantized) unchanged() error {
	for _, k := range q.known {
		if !k.was.Same(k.Tensor) {
			return &ChangedError{k.Name}
		}
	}
	for _, p := range q.products {
		if p.bytes != nil && (*p.Weight == nil || !p.fits((*p.Weight).Shape())) {
			return &ChangedError{p.tensorName(p.Names[0])}
		}
	}
	return nil
}

// fits reports whether a weight of this shape can belong to the layer.
func (p *product) fits(shape []int) bool { return fmt.Sprint(shape) == fmt.Sprint(p.bytes.shape) }

// String returns the model in one line.
func (m *Model) String() string {
	q := m.of()
	quantised, left := 0, 0
	for _, p := range q.products {
		if p.bytes != nil {
			quantised++
		} else {
			left++
		}
	}
	how := "weights and activations of 8 bits"
	if q.kind == weights {
		how = "weights of 8 bits"
	}
	text := fmt.Sprintf("%s in %d layers", how, quantised)
	if left > 0 {
		text += fmt.Sprintf(", %d float", left)
	}
	return text
}

// Layer is a layer of a quantised model.
type Layer struct {
	Name string // name in the model
	Kind string // the layer as a Go expression
	// Quantized is set for 8-bit layers; Reason says why another layer is not quantized.
	Quantized bool
	Reason    string
	// SQNR is the signal-to-quantization-noise ratio of the layer's output, for the same input
	// as in floats, in decibels; NaN if not measured. One bit is 6 dB.
	SQNR       float64
	FloatBytes int // size of its float parameters
	Bytes      int // quantized size, including scales
}

// Layers returns the layers with parameters.
func (m *Model) Layers() []Layer {
	q := m.of()
	owned := map[string]*product{} // names of tensors
	for _, p := range q.products {
		owned[p.tensorName(p.Names[0])], owned[p.tensorName(p.Names[1])] = p, p
		if p.fold != nil && p.bytes != nil {
			for _, name := range []string{"weight", "bias", "running_mean", "running_var"} {
				owned[p.fold.name+"."+name] = p
			}
		}
	}
	named := map[string]nn.Module{}
	for _, n := range nn.NamedModules(q.model) {
		named[n.Name] = n.Module
	}
	var found []Layer
	at := map[any]int{}
	for _, k := range q.known {
		name, _ := cutLast(k.Name)
		l := Layer{Name: name, Kind: kindOf(named[name]), Reason: "has no form of 8 bits", SQNR: nan}
		key := any(name)
		if p := owned[k.Name]; p != nil {
			key = p
			l = Layer{Name: p.name, Kind: kindOf(p.module), Quantized: p.bytes != nil, Reason: p.reason, SQNR: p.sqnr}
			if p.bytes != nil {
				l.Bytes = p.size()
			}
			if p.fold != nil && p.bytes != nil {
				l.Kind += ", " + kindOf(p.fold.module)
			}
		}
		i, seen := at[key]
		if !seen {
			i = len(found)
			at[key] = i
			found = append(found, l)
		}
		size := k.Numel() * k.DType().Size()
		found[i].FloatBytes += size
		if !found[i].Quantized {
			found[i].Bytes += size
		}
	}
	for _, p := range q.products { // which share their weight with another layer
		if _, seen := at[p]; !seen && p.bytes != nil {
			found = append(found, Layer{Name: p.name, Kind: kindOf(p.module), Quantized: true, SQNR: p.sqnr, Bytes: p.size()})
		}
	}
	return found
}

func cutLast(name string) (owner, rest string) {
	if i := strings.LastIndex(name, "."); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func kindOf(m nn.Module) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return "parameters"
}

// size returns the bytes of the quantized parameters.
func (p *product) size() int {
	n := len(p.bytes.weight) + 4*len(p.bytes.step)
	if p.Bias != nil || p.fold != nil {
		n += 4 * len(p.bytes.bias)
	}
	if p.bytes.input != (integer.Scale{}) {
		n += 4 + 1
	}
	return n
}
