package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/integer"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// emitter writes a graph as ONNX nodes, step by step. Nodes that no output needs are removed at
// the end, so a step may be written again as part of a larger op.
type emitter struct {
	g               *graph
	model           *Model
	names           []string                      // by value; "" until it is written
	taken           map[string]int                // number of uses of a name
	weights         map[string]weight             // weights that nodes may use
	masks           map[string]string             // by float mask: the bool that it was converted from
	cache           map[string]string             // outputs of once
	moments         map[int][2]string             // mean and variance of a value that contains both
	int8Weights     map[*integer.Weights][]string // names of quantized weights and of their scales
	quantizedLayers map[*integer.MatMul][]string  // names of the constants of quantized layers
	mixed           map[int]string                // name of the output of an attention, by the flat value in which Attention returns it, and its views
	current         *step
	failed          error // error of a constant that cannot be written
}

// emit converts a graph to a model.
func emit(g *graph, o *options, meter *display.Meter) (*Model, error) {
	e := &emitter{
		g: g, model: &Model{name: o.name, notes: o.notes, external: o.external},
		names: make([]string, len(g.values)), taken: map[string]int{}, weights: map[string]weight{},
		masks: map[string]string{}, cache: map[string]string{}, moments: map[int][2]string{}, mixed: map[int]string{}, int8Weights: map[*integer.Weights][]string{}, quantizedLayers: map[*integer.MatMul][]string{},
	}
	e.parameters(o.uses)
	if err := e.ports(o); err != nil {
		return nil, err
	}
	for i := range g.steps {
		meter.Set(1+float64(i)/float64(len(g.steps)), "writing operators")
		s := &g.steps[i]
		e.current = s
		convert, err := converterOf(s)
		if err != nil {
			return nil, err
		}
		name, err := convert(e, s)
		if err = errors.Join(err, e.failed); err != nil {
			return nil, err
		}
		e.names[s.out] = name
	}
	e.current = nil
	if err := errors.Join(e.results(o), e.failed); err != nil {
		return nil, err
	}
	e.sweep()
	meter.Set(exportSteps, "")
	return e.model, nil
}

// parameters names constants that are tensors of the models.
func (e *emitter) parameters(models []any) {
	for i, m := range models {
		prefix := ""
		if len(models) > 1 {
			prefix = fmt.Sprintf("%d.", i)
		}
		for _, p := range nn.State(m) {
			if n := e.g.first.Find(p.Tensor); n >= 0 && e.names[n] == "" && e.g.values[n].pattern == (pattern{}) {
				e.constant(n, prefix+p.Name)
			}
		}
	}
}

// ports returns the inputs.
func (e *emitter) ports(o *options) error {
	if o.columns != nil {
		return e.columns(e.g.inputs[0], o.columns)
	}
	for i, v := range e.g.inputs {
		name := portName("input", o.inputs, i, len(e.g.inputs))
		if _, clash := e.weights[name]; clash {
			return fmt.Errorf("onnx: input %d and a parameter are both named %q; set another name with Inputs", i, name)
		}
		e.taken[name]++
		e.names[v] = name
		e.model.inputs = append(e.model.inputs, port{name: name, element: elements[e.g.values[v].dtype], shape: e.dimensions(v)})
	}
	return nil
}

// portName returns the user's name of an input or output, or the default.
func portName(kind string, names []string, i, of int) string {
	switch {
	case names != nil:
		return names[i]
	case of == 1:
		return kind
	}
	return fmt.Sprintf("%s_%d", kind, i)
}

// dimensions returns the dimensions of an input or output.
func (e *emitter) dimensions(v int) []dimension {
	shape := make([]dimension, len(e.g.values[v].shape))
	for i, s := range e.g.values[v].shape {
		if s.fixed() {
			shape[i] = dimension{size: s[0], known: true}
			continue
		}
		for _, a := range e.g.plan.axes {
			if slices.Equal(s, a.sizes) {
				shape[i].name = a.name
				break
			}
		}
		shape[i].of = e.g.plan.dependsOn(s)
	}
	return shape
}

// results returns the outputs, each with a unique name.
func (e *emitter) results(o *options) error {
	if o.outputs != nil && len(o.outputs) != len(e.g.outputs) {
		return fmt.Errorf("onnx: Outputs: %d names for %d outputs", len(o.outputs), len(e.g.outputs))
	}
	renamed := map[string]string{}
	for i, v := range e.g.outputs {
		name := portName("output", o.outputs, i, len(e.g.outputs))
		_, clash := e.weights[name]
		if clash || e.taken[name] > 0 {
			return fmt.Errorf("onnx: output %d and an input or a parameter are both named %q; set another name with Outputs", i, name)
		}
		e.taken[name]++
		inner := e.name(v)
		if _, twice := renamed[inner]; twice || !e.isMade(inner) {
			inner = e.node("Identity", []string{inner})
		}
		renamed[inner] = name
		e.model.outputs = append(e.model.outputs, port{name: name, element: elements[e.g.values[v].dtype], shape: e.dimensions(v)})
	}
	for k := range e.model.nodes {
		n := &e.model.nodes[k]
		if name, ok := renamed[n.out]; ok {
			n.out = name
		}
		for i, in := range n.in {
			if name, ok := renamed[in]; ok {
				n.in[i] = name
			}
		}
	}
	return nil
}

// isMade reports whether a node computes the value with this name.
func (e *emitter) isMade(name string) bool {
	return slices.ContainsFunc(e.model.nodes, func(n operator) bool { return n.out == name })
}

// sweep removes nodes and weights that no output needs, and renames the others.
func (e *emitter) sweep() {
	needed := map[string]bool{}
	for _, p := range e.model.outputs {
		needed[p.name] = true
	}
	var kept []operator
	for k := len(e.model.nodes) - 1; k >= 0; k-- {
		n := e.model.nodes[k]
		if !needed[n.out] {
			continue
		}
		kept = append(kept, n)
		for _, in := range n.in {
			needed[in] = true
		}
	}
	slices.Reverse(kept)
	e.model.nodes = kept
	final, added := map[string]string{}, map[string]bool{}
	for k := range kept {
		n := &kept[k]
		n.in = slices.Clone(n.in)
		for i, in := range n.in {
			if w, ok := e.weights[in]; ok && !added[in] { // in the order of their use
				added[in] = true
				e.model.weights = append(e.model.weights, w)
			}
			if name, ok := final[in]; ok {
				n.in[i] = name
			}
		}
		n.name = e.unique(n.name)
		if !slices.ContainsFunc(e.model.outputs, func(p port) bool { return p.name == n.out }) {
			final[n.out] = n.name + "_output"
			n.out = final[n.out]
		}
	}
}

// name returns the name of a value, after adding a weight or nodes for a constant.
func (e *emitter) name(v int) string {
	if e.names[v] != "" {
		return e.names[v]
	}
	if p := e.g.values[v].pattern; p != (pattern{}) || e.g.values[v].resizes() {
		if e.names[v] = e.patterned(v, p); e.names[v] == "" {
			e.failed = e.g.changing(v, "the shape %s of a tensor that the model makes in Go depends on the shape of the input in a way that is not supported")
		}
		return e.names[v]
	}
	e.constant(v, e.unique("/constant"))
	return e.names[v]
}

// constant adds a constant as a weight with this name.
func (e *emitter) constant(v int, name string) {
	c := e.g.values[v].constant
	e.names[v] = e.add(name, elements[c.DType()], c.Raw(), c.Shape()...)
	e.taken[name]++
}

// add adds a weight, and returns its name.
func (e *emitter) add(name string, element elementType, raw []byte, shape ...int) string {
	e.weights[name] = weight{name: name, element: element, shape: shape, raw: raw}
	return name
}

// in returns the name of an input of a step.
func (e *emitter) in(s *step, i int) string { return e.name(s.in[i]) }

// inputs returns the names of all inputs of a step.
func (e *emitter) inputs(s *step) []string {
	in := make([]string, len(s.in))
	for i := range s.in {
		in[i] = e.in(s, i)
	}
	return in
}

// node adds a node and returns the name of its output.
func (e *emitter) node(op string, in []string, attributes ...attribute) string {
	prefix := "/" + e.layerPrefix(in) + op
	out := fmt.Sprintf("/%d", len(e.model.nodes)) // until it has a better one
	e.model.nodes = append(e.model.nodes, operator{prefix, op, in, out, attributes})
	return out
}

// once adds a node, or returns the output of an earlier node with the same op and inputs.
func (e *emitter) once(op string, in []string, attributes ...attribute) string {
	key := fmt.Sprint(op, in, attributes)
	if e.cache[key] == "" {
		e.cache[key] = e.node(op, in, attributes...)
	}
	return e.cache[key]
}

// layerPrefix returns the layer that a node belongs to: the owner of a parameter that it or its op
// uses, or the layer in which its op was recorded.
func (e *emitter) layerPrefix(in []string) string {
	if e.current != nil {
		in = slices.Clone(in)
		for _, v := range e.current.in {
			for s := e.maker(v); s != nil && len(s.in) > 0 && movesWeight(s.ops[0]); s = e.maker(v) {
				v = s.in[0]
			}
			in = append(in, e.names[v])
		}
	}
	for _, n := range in {
		if _, ok := e.weights[n]; ok && !strings.HasPrefix(n, "/") {
			if i := strings.LastIndexByte(n, '.'); i > 0 {
				return n[:i] + "/"
			}
		}
	}
	if e.current != nil && e.current.path != "" {
		return e.current.path + "/"
	}
	return ""
}

// unique returns an unused name.
func (e *emitter) unique(name string) string {
	for {
		k := e.taken[name]
		e.taken[name]++
		if k == 0 {
			return name
		}
		name = fmt.Sprintf("%s_%d", name, k)
	}
}

// ints adds a one-dimensional weight of int64 values.
func (e *emitter) ints(values ...int) string {
	raw := []byte{}
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(v)))
	}
	return e.add("/ints/"+strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ","), "[]"), elementInt64, raw, len(values))
}

// scalar adds a weight with one element and no dimensions.
func (e *emitter) scalar(d tensor.DType, value float64) string {
	raw := tensor.FromFloat64s([]float64{value}).Cast(d).Raw()
	name := fmt.Sprintf("/%s/%v", elements[d], value)
	if d == tensor.Float32 {
		name = fmt.Sprintf("/%s/%v", elements[d], float32(value))
	}
	if math.Signbit(value) && value == 0 {
		name += "-"
	}
	return e.add(name, elements[d], raw)
}

// cast adds a node that converts to another element type.
func (e *emitter) cast(name string, to elementType) string {
	return e.node("Cast", []string{name}, attribute{"to", int(to)})
}

// dtype returns the type of the first input of a step.
func (e *emitter) dtype(s *step) tensor.DType { return e.g.values[s.in[0]].dtype }

// shape returns the shape of a value in all runs.
func (e *emitter) shape(v int) []sizes { return e.g.values[v].shape }

// maker returns the step that computes a value; nil for inputs and constants.
func (e *emitter) maker(v int) *step {
	if k := e.g.from[v]; k >= 0 {
		return &e.g.steps[k]
	}
	return nil
}

// movesWeight reports whether the result of an op counts as the same parameter as its input.
func movesWeight(op ir.Op) bool {
	switch op.(type) {
	case ir.Permute, ir.Cast, ir.Reshape:
		return true
	}
	return false
}

// isA reports whether a step exists and has an op of this type.
func isA[T ir.Op](s *step) bool {
	if s == nil {
		return false
	}
	_, ok := s.ops[0].(T)
	return ok
}
