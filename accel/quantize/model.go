package quantize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Model is a quantized model: a module for accel.Predict and accel.Evaluate, made by [Static],
// [WeightOnly] or [Load]. It has no trainable parameters.
type Model struct {
	of func() *modelState // a function, so that reflection does not find the parameters of the float model
}

// kind is the kind of quantization.
type kind string

const (
	static  kind = "static"
	weights kind = "weights"
)

// modelState is the state of a Model.
type modelState struct {
	model     nn.Module
	kind      kind
	layers    []*quantizable
	table     layer.Substitutes
	originals []originalTensor
}

// originalTensor is a tensor of the original model with a snapshot from the time of quantization.
type originalTensor struct {
	nn.Parameter
	was *tensors.Snapshot[*tensor.Tensor]
}

// newModel returns a model whose layers have been quantized.
func newModel(model nn.Module, k kind, all []*quantizable) (*Model, error) {
	q := &modelState{model: model, kind: k, layers: all}
	some := false
	for _, p := range all {
		some = some || p.quantized != nil
	}
	if !some {
		return nil, ErrNothing
	}
	if k == static {
		q.table = buildSubstitutes(model, all)
	} else {
		q.table = layer.Substitutes{}
		for _, p := range all {
			if p.quantized != nil {
				q.table[p.Weight] = p.floatForward()
			}
		}
	}
	for _, p := range nn.State(model) {
		q.originals = append(q.originals, originalTensor{p, tensors.NewSnapshot(p.Tensor)})
	}
	return &Model{func() *modelState { return q }}, nil
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
	if err := requireCPU(); err != nil {
		panic(err)
	}
	if err := q.unchanged(); err != nil {
		panic(err)
	}
	tensor.NoGrad(func() {
		layer.Substitute(q.table, func() { y = q.model.Forward(x) })
	})
	return y
}

// unchanged checks that the float model has not changed.
func (q *modelState) unchanged() error {
	for _, k := range q.originals {
		if !k.was.Same(k.Tensor) {
			return &ChangedError{k.Name}
		}
	}
	for _, p := range q.layers {
		if p.quantized != nil && (*p.Weight == nil || !slices.Equal((*p.Weight).Shape(), p.quantized.shape)) {
			return &ChangedError{p.tensorName(p.Names[0])}
		}
	}
	return nil
}

// String returns the model in one line.
func (m *Model) String() string {
	q := m.of()
	quantizedLayers, left := 0, 0
	for _, p := range q.layers {
		if p.quantized != nil {
			quantizedLayers++
		} else {
			left++
		}
	}
	how := "8-bit weights and activations"
	if q.kind == weights {
		how = "8-bit weights"
	}
	text := fmt.Sprintf("%s in %d layers", how, quantizedLayers)
	if left > 0 {
		text += fmt.Sprintf(", %d layers float", left)
	}
	return text
}

// Layer describes a layer of a quantized model.
type Layer struct {
	Name string // name in the model
	Kind string // the layer as a Go expression
	// Quantized is set for 8-bit layers; Reason says why another layer is not quantized.
	Quantized bool
	Reason    string // "" for 8-bit layers
	// SQNR is the signal-to-quantization-noise ratio of the layer's output, for the same input
	// as in floats, in decibels; NaN if not measured. One bit is 6 dB.
	SQNR       float64
	FloatBytes int // size of its float parameters
	Bytes      int // quantized size, including scales
}

// Layers returns the layers with parameters.
func (m *Model) Layers() []Layer {
	q := m.of()
	owned := map[string]*quantizable{} // names of tensors
	for _, p := range q.layers {
		owned[p.tensorName(p.Names[0])], owned[p.tensorName(p.Names[1])] = p, p
		if p.fold != nil && p.quantized != nil {
			for _, name := range normalizationNames {
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
	for _, k := range q.originals {
		name := k.Name[:max(strings.LastIndexByte(k.Name, '.'), 0)] // of the layer
		l := Layer{Name: name, Kind: kindOf(named[name]), Reason: "has no 8-bit implementation", SQNR: nan}
		key := any(name)
		if p := owned[k.Name]; p != nil {
			key = p
			l = Layer{Name: p.name, Kind: kindOf(p.module), Quantized: p.quantized != nil, Reason: p.reason, SQNR: p.sqnr}
			if p.quantized != nil {
				l.Bytes = p.size()
			}
			if p.fold != nil && p.quantized != nil {
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
	for _, p := range q.layers { // layers that share their weight with another one
		if _, seen := at[p]; !seen && p.quantized != nil {
			found = append(found, Layer{Name: p.name, Kind: kindOf(p.module), Quantized: true, SQNR: p.sqnr, Bytes: p.size()})
		}
	}
	return found
}

func kindOf(m nn.Module) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return "parameters"
}

// size returns the bytes of the quantized parameters.
func (p *quantizable) size() int {
	n := len(p.quantized.weight) + 4*len(p.quantized.step)
	if p.Bias != nil || p.fold != nil {
		n += 4 * len(p.quantized.bias)
	}
	if p.quantized.input != (integer.Scale{}) {
		n += 4 + 1
	}
	return n
}
