package onnx

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// program is an imported graph. A slot is the number of a value.
type program struct {
	nodes           []node
	slots           int
	constants       map[int]operand // weights, and what is computed only from constants
	inputs, outputs []port
	inputSlots      []int
	outputSlots     []int
}

// node is a node of a program.
type node struct {
	name, op   string
	opset      int
	attributes map[string]any
	run        func(c *call) operand
	in         []int // slots, -1 for an omitted optional input
	outs       []int // slots, -1 for an output that nothing uses; one unless the op is in severalOutputs
	done       []int // slots that no later node uses
}

// build checks a file and makes a module of it.
func build(f *file) (*Imported, error) {
	m := &Imported{weights: weights{}, graph: &program{constants: map[int]operand{}, outputs: f.outputs}}
	p := m.graph
	slots := map[string]int{}
	define := func(name string) (int, error) {
		if _, ok := slots[name]; ok || name == "" {
			return 0, malformed("the value %q is defined twice", name)
		}
		slots[name] = p.slots
		p.slots++
		return p.slots - 1, nil
	}
	for _, w := range f.Model.weights {
		slot, err := define(w.name)
		if err != nil {
			return nil, err
		}
		p.constants[slot] = constantValue(w)
	}
	for _, port := range f.inputs {
		if _, ok := slots[port.name]; ok {
			continue // old files list weights as inputs, too
		}
		slot, err := define(port.name)
		if err != nil {
			return nil, err
		}
		if _, ok := dtypes[port.element]; !ok {
			return nil, unsupported("element type %d of input %q", port.element, port.name)
		}
		p.inputs, p.inputSlots = append(p.inputs, port), append(p.inputSlots, slot)
	}
	parameters := m.parameters(f, slots)
	for k, o := range f.nodes {
		n, err := newNode(o, f.outs[k], f.opset, slots)
		for i := 0; i < len(f.outs[k]) && err == nil; i++ {
			slot := -1
			if f.outs[k][i] != "" {
				slot, err = define(f.outs[k][i])
			}
			n.outs = append(n.outs, slot)
		}
		computed := func(slot int) bool { return parameters[slot] || slot >= 0 && !p.isConstant(slot) }
		if err == nil && !slices.ContainsFunc(n.in, computed) {
			err = p.fold(n)
		} else if err == nil {
			p.nodes = append(p.nodes, n)
		}
		if err != nil {
			return nil, &ImportError{Node: o.name, Op: o.op, Err: err}
		}
	}
	for _, port := range p.outputs {
		slot, ok := slots[port.name]
		if !ok {
			return nil, malformed("nothing computes the output %q", port.name)
		}
		p.outputSlots = append(p.outputSlots, slot)
	}
	if len(p.outputs) == 0 {
		return nil, malformed("the graph has no output")
	}
	p.findLastUses()
	return m, nil
}

func (p *program) isConstant(slot int) bool { _, ok := p.constants[slot]; return ok }

// parameters lists the floating-point weights of a file as those of the module, and returns the slots of these, which training may
// change.
func (m *Imported) parameters(f *file, slots map[string]int) map[int]bool {
	statistics := map[string]bool{}
	for _, n := range f.nodes {
		if n.op == "BatchNormalization" {
			for _, name := range n.in[min(3, len(n.in)):] {
				statistics[name] = true
			}
		}
	}
	all := map[int]bool{}
	for _, w := range f.Model.weights {
		slot := slots[w.name]
		v := m.graph.constants[slot]
		if v.t == nil || !isFloat(v.element) || strings.HasPrefix(w.name, "/") || len(w.shape) == 0 {
			continue
		}
		all[slot] = true
		if !statistics[w.name] {
			tensor.Parameter(v.t)
		}
		m.weights[w.name] = v.t
	}
	return all
}

func isFloat(e elementType) bool {
	return e == elementFloat || e == elementDouble || e == elementFloat16 || e == elementBFloat16
}

// newNode checks a node of a file against the table of ops.
func newNode(o operator, outs []string, opset int, slots map[string]int) (node, error) {
	op, ok := importers[o.op]
	if !ok {
		return node{}, unsupported("this op")
	}
	n := node{name: o.name, op: o.op, opset: opset, run: op.run, attributes: maps.Clone(op.attributes)}
	for _, a := range o.attributes {
		known, ok := n.attributes[a.name]
		if !ok {
			return n, unsupported("attribute %s", a.name)
		}
		if must, fixed := known.(only); fixed {
			if a.value != must.value {
				return n, unsupported("%s %v (supported is %v)", a.name, a.value, must.value)
			}
			continue
		}
		if reflect.TypeOf(known) != reflect.TypeOf(a.value) {
			return n, malformed("attribute %s is a %T, want a %T", a.name, a.value, known)
		}
		n.attributes[a.name] = a.value
	}
	if len(o.in) < op.least {
		return n, malformed("it has %d inputs, want %d", len(o.in), op.least)
	}
	if op.most >= 0 && len(o.in) > op.most {
		return n, unsupported("a node with %d inputs", len(o.in))
	}
	if severalOutputs[o.op] == nil {
		for i, name := range outs {
			if (i == 0) == (name == "") {
				return n, unsupported("output %d of this op", i)
			}
		}
	}
	for i, name := range o.in {
		slot, ok := slots[name]
		switch {
		case name == "" && i >= op.least:
			slot = -1
		case !ok:
			return n, malformed("its input %q is defined nowhere before it", name)
		}
		n.in = append(n.in, slot)
	}
	return n, nil
}

// fold computes a node that uses only constants.
func (p *program) fold(n node) (err error) {
	c := &call{node: &n}
	for _, slot := range n.in {
		c.in = append(c.in, p.constants[slot])
	}
	defer nn.Catch(&err)
	tensor.NoGrad(func() {
		for i, v := range c.do() {
			if n.outs[i] >= 0 {
				p.constants[n.outs[i]] = v
			}
		}
	})
	return nil
}

// findLastUses sets done of each node.
func (p *program) findLastUses() {
	last := map[int]int{}
	for i, n := range p.nodes {
		for _, slot := range n.outs {
			last[slot] = i
		}
		for _, slot := range n.in {
			last[slot] = i
		}
	}
	for _, slot := range p.outputSlots {
		delete(last, slot)
	}
	for _, slot := range p.inputSlots {
		delete(last, slot)
	}
	for slot, i := range last {
		if slot >= 0 && !p.isConstant(slot) {
			p.nodes[i].done = append(p.nodes[i].done, slot)
		}
	}
}

// run computes the outputs.
func (p *program) run(inputs []*tensor.Tensor) []*tensor.Tensor {
	values := make([]operand, p.slots)
	users := map[*tensor.Tensor]int{} // how many values are this tensor
	for slot, v := range p.constants {
		values[slot] = v
		users[v.t]++
	}
	for i, x := range inputs {
		v, err := p.inputs[i].accept(x)
		if err != nil {
			panic(err)
		}
		values[p.inputSlots[i]] = v
		users[v.t]++
		users[x]++ // belongs to the caller
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		for k, v := range n.compute(values) {
			if n.outs[k] >= 0 {
				values[n.outs[k]] = v
				users[v.t]++
			}
		}
		for _, slot := range n.done { // releasing a value lets the op that made it be fused
			t := values[slot].t
			values[slot] = operand{}
			if users[t]--; users[t] == 0 && t != nil {
				t.Release()
			}
		}
	}
	out := make([]*tensor.Tensor, len(p.outputs))
	for i, slot := range p.outputSlots {
		out[i] = values[slot].result()
	}
	return out
}

// compute runs a node. A panic with an error of package tensor becomes one with an [*ImportError]
// that names the node.
func (n *node) compute(values []operand) (v []operand) {
	c := &call{node: n, in: make([]operand, len(n.in))}
	for i, slot := range n.in {
		if slot >= 0 {
			c.in[i] = values[slot]
		}
	}
	var err error
	func() {
		defer nn.Catch(&err)
		tensors.NameScope(func() (string, string) { return n.name, n.op }, func() { v = c.do() })
	}()
	if err != nil {
		panic(&ImportError{Node: n.name, Op: n.op, Err: err})
	}
	return v
}

// accept checks an input of the model.
func (p *port) accept(x *tensor.Tensor) (operand, error) {
	if x == nil {
		return operand{}, &tensor.ShapeError{Op: "onnx", Hint: "input " + p.name + " is nil"}
	}
	shape := x.Shape()
	fits := !p.ranked || len(shape) == len(p.shape)
	for i := 0; fits && p.ranked && i < len(shape); i++ {
		fits = !p.shape[i].known || p.shape[i].size == shape[i]
	}
	if !fits {
		return operand{}, &tensor.ShapeError{Op: "onnx", Shapes: [][]int{shape}, Hint: "input " + p.name + " has shape " + shapeText(p.shape)}
	}
	want := dtypes[p.element]
	if d := x.DType(); d != want {
		if !isInteger(d) || !isInteger(want) {
			return operand{}, &tensor.DTypeError{Op: "onnx", DTypes: []tensor.DType{d}, Hint: "input " + p.name + " is " + p.element.String()}
		}
		x = x.Cast(want)
	}
	return tensorValue(x, p.element), nil
}

func isInteger(d tensor.DType) bool {
	return d == tensor.Int32 || d == tensor.Int64 || d == tensor.Uint8
}

// dtypes maps ONNX's element types to ours.
var dtypes = func() map[elementType]tensor.DType {
	all := map[elementType]tensor.DType{}
	for d, e := range elements {
		all[e] = d
	}
	return all
}()

// constantValue returns a weight as a value.
func constantValue(w weight) operand {
	d, ok := dtypes[w.element]
	if isFloat(w.element) || w.element == elementBool {
		return tensorValue(tensor.FromRaw(d, w.raw, w.shape...), w.element)
	}
	v := operand{element: w.element, known: true, shape: w.shape, ints: make([]int, len(w.raw)/elementSizes[w.element])}
	for i := range v.ints {
		v.ints[i] = integerAt(w.raw, w.element, i)
	}
	if ok {
		v.t = v.tensor()
	}
	return v
}
