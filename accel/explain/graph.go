package explain

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ModelGraph is the layers of a model and what flows between them; [Graph] returns it. It displays itself as a drawing,
// with the graph as text.
type ModelGraph struct {
	Nodes  []GraphNode // in the order in which they run; the first is the input
	Output int         // index in Nodes of the one whose output the model returns
}

// GraphNode is a layer, or an op outside of layers.
type GraphNode struct {
	Path       string       // of the layer in the model, such as "2.0" or "block.up"; "" for ops outside of layers
	Layer      string       // the layer as Go code, "input", or the name of the op
	Shape      []int        // of the output for one example
	DType      tensor.DType // of the output
	Parameters int          // number of trained values; a tensor that layers share counts for the first one only
	Frozen     int          // number of frozen values, without running statistics
	In         []int        // indices of the nodes whose outputs the layer takes, in order, each once
}

// Graph runs one example of zeros with the given shape through a model in evaluation mode, and returns its layers: as
// nn.Summary, but with the branches and sums of residual connections, of any model. Layers of package nn are one node
// each. Layers that have not seen an input create their parameters. What does nothing in evaluation mode, such as
// nn.Dropout, is left out, and so is a module that a branch of Forward does not run for this example.
//
// The drawing is a vertical list: layers that follow each other are connected by an arrow, other connections run beside it.
// Repeated blocks are drawn once, with their number.
//
// A model that reads elements of its input, for instance with Item, is an error that wraps a *tensor.TraceError.
func Graph(model nn.Module, shape ...int) (g *ModelGraph, err error) {
	if model == nil {
		return nil, errors.New("explain: Graph: the model is nil")
	}
	defer func() {
		if err != nil {
			g, err = nil, fmt.Errorf("explain: Graph: %w", err)
		}
	}()
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	x := tensor.Zeros(append([]int{1}, shape...)...)
	tensor.NoGrad(func() { model.Forward(x) }) // creates the parameters
	traced := tensors.Trace(func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{model.Forward(in[0])} }, x)
	defer traced.Release()
	b := newGraphBuilder(model, traced)
	for i := range traced.Nodes {
		b.add(i)
	}
	output, ok := b.from[traced.Outputs[0]]
	if !ok || !traced.Depends(0) {
		return nil, errors.New("the output of the model does not depend on its input")
	}
	b.graph.Output = output
	return b.graph, nil
}

// exampleOf returns the shape of one example of a value.
func exampleOf(shape []int) []int {
	if len(shape) == 0 {
		return []int{}
	}
	return slices.Clone(shape[1:])
}

// graphBuilder joins the ops of a trace to layers.
type graphBuilder struct {
	traced *tensors.Graph[*tensor.Tensor]
	graph  *ModelGraph
	from   map[int]int // from a value to the node that computes it
	// kinds are the layers of package nn in the model, as Go code.
	kinds  map[string]bool
	names  map[string]string // of all modules by their path, as Go code
	chains map[string]bool   // paths of chains
	owners map[int]owner     // of the values that are parameters, or show one in another shape
	counts map[int]bool      // parameters that are counted already
	used   []map[int]bool    // of each node: its parameters
	open   group             // the newest node
}

// owner is the layer with a parameter.
type owner struct {
	path, layer string
	value       int // of the parameter
	trained     bool
	buffer      bool // a running statistic
}

// group says what belongs to the newest node.
type group struct {
	node   int
	path   string // in a chain; "" outside of chains
	kind   string
	owner  string // path of the layer of its parameters; "" without
	last   int    // the newest value
	begins bool   // there is no group yet
}

func newGraphBuilder(model nn.Module, traced *tensors.Graph[*tensor.Tensor]) *graphBuilder {
	b := &graphBuilder{
		traced: traced, graph: &ModelGraph{}, from: map[int]int{}, kinds: map[string]bool{}, names: map[string]string{}, chains: map[string]bool{}, owners: map[int]owner{}, counts: map[int]bool{},
		open: group{begins: true},
	}
	var layers []nn.NamedModule // those of package nn, the outer ones first
	for _, m := range nn.NamedModules(model) {
		b.name(m.Name, m.Module)
		if !ofNN(m.Module) {
			continue
		}
		if _, sum := layer.Of(m.Module).(layer.Shortcut); !sum {
			layers = append(layers, m)
		}
	}
	for _, t := range nn.State(model) {
		v := traced.Find(t.Tensor)
		if v < 0 {
			continue // not used
		}
		o := owner{value: v, trained: t.RequiresGrad(), buffer: strings.HasSuffix(t.Name, "running_mean") || strings.HasSuffix(t.Name, "running_var")}
		if end := strings.LastIndexByte(t.Name, '.'); end > 0 {
			o.path = t.Name[:end]
		}
		for _, l := range layers {
			if l.Name == "" || strings.HasPrefix(t.Name, l.Name+".") {
				o.path, o.layer = l.Name, layer.Name(l.Module)
				break
			}
		}
		b.owners[v] = o
	}
	for _, v := range traced.Inputs {
		b.from[v] = len(b.graph.Nodes)
		value := traced.Values[v]
		b.graph.Nodes = append(b.graph.Nodes, GraphNode{Layer: "input", Shape: exampleOf(value.Shape), DType: value.DType})
		b.used = append(b.used, map[int]bool{})
	}
	return b
}

// name adds a module, and the layers of a chain, of which NamedModules only has those with tensors.
func (b *graphBuilder) name(path string, m nn.Module) {
	if m == nil {
		return
	}
	if b.names[path] = layer.Name(m); ofNN(m) {
		b.kinds[layer.Name(m)] = true
	}
	chain, _ := m.(*nn.SequentialLayer)
	if s, ok := layer.Of(m).(layer.Shortcut); ok {
		chain, _ = s.Chain.(*nn.SequentialLayer)
	}
	if chain == nil {
		return
	}
	b.chains[path] = true
	for i, l := range chain.Layers() {
		b.name(strings.TrimPrefix(fmt.Sprint(path, ".", i), "."), l)
	}
}

// ofNN reports whether a module is a layer of package nn that is one node: no chain.
func ofNN(m nn.Module) bool {
	if _, chain := m.(*nn.SequentialLayer); chain {
		return false
	}
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == reflect.TypeFor[nn.SequentialLayer]().PkgPath()
}

// add adds an op of the trace.
func (b *graphBuilder) add(i int) {
	n := b.traced.Nodes[i]
	o, used, named := b.parameters(n)
	inLayer := n.Path != "" && b.kinds[n.Kind]
	switch g := &b.open; {
	case !inLayer && !named && b.passes(n):
		return
	case g.begins:
	case inLayer && g.path == n.Path && g.kind == n.Kind && (!named || g.owner == "" || g.owner == o.path):
		b.join(n, o, used)
		return
	case !inLayer && named && g.owner == o.path && g.path == "" && o.layer != "" && !b.reused(g.node, used):
		b.join(n, o, used) // the next part of a layer, such as the projection of an attention
		return
	case !inLayer && named && o.layer != "" && b.resumes(o, used):
		b.join(n, o, used)
		return
	}
	node := GraphNode{Layer: n.Op.Name()}
	b.open = group{owner: o.path}
	switch {
	case inLayer:
		b.open.path, b.open.kind = n.Path, n.Kind
		if node.Layer = n.Kind; strings.HasPrefix(n.Kind, "Residual(") {
			node.Layer = n.Op.Name() // its layers are nodes of their own
		}
		node.Path = b.place(n)
	case named && o.layer != "":
		node.Path, node.Layer = o.path, o.layer
	case named:
		node.Path = o.path // of a module that uses the parameter in an op
	}
	b.open.node = len(b.graph.Nodes)
	b.graph.Nodes, b.used = append(b.graph.Nodes, node), append(b.used, map[int]bool{})
	b.join(n, o, used)
}

// place returns the path in the model of a layer with a path in a chain, which may be that of a field; "" if it is not
// known. If several chains have such a layer there, it is that of the chain whose earlier layer is the newest node.
func (b *graphBuilder) place(n tensors.GraphNode) string {
	if b.names[n.Path] == n.Kind {
		return n.Path
	}
	var fit []string
	for path, kind := range b.names {
		if chain, ok := strings.CutSuffix(path, "."+n.Path); ok && kind == n.Kind && b.chains[chain] {
			fit = append(fit, path)
		}
	}
	if len(fit) == 1 {
		return fit[0]
	}
	newest := b.graph.Nodes[len(b.graph.Nodes)-1].Path
	for _, path := range fit {
		before, ok := strings.CutPrefix(newest, strings.TrimSuffix(path, n.Path))
		k, err := strconv.Atoi(before)
		if at, wrong := strconv.Atoi(n.Path); ok && err == nil && wrong == nil && k < at {
			return path
		}
	}
	return ""
}

// parameters returns the parameters among the operands of an op, and the layer of the first one.
func (b *graphBuilder) parameters(n tensors.GraphNode) (o owner, used []int, named bool) {
	for _, v := range n.In {
		if p, ok := b.owners[v]; ok {
			if !named {
				o, named = p, true
			}
			used = append(used, p.value)
		}
	}
	return o, used, named
}

// reused reports whether a node has used one of these parameters: then this is another call of its layer.
func (b *graphBuilder) reused(node int, used []int) bool {
	return slices.ContainsFunc(used, func(v int) bool { return b.used[node][v] })
}

// resumes reports whether an op continues a layer behind ops without parameters, which then are part of the layer, such as
// the attention between its projections. If so, it removes their nodes.
func (b *graphBuilder) resumes(o owner, used []int) bool {
	nodes := b.graph.Nodes
	at := len(nodes) - 1
	for at > 0 && nodes[at].Path == "" && len(b.used[at]) == 0 {
		at--
	}
	if at <= 0 || at == len(nodes)-1 || nodes[at].Path != o.path || nodes[at].Layer != o.layer || b.reused(at, used) {
		return false
	}
	inside := func(i int) bool { return i >= at }
	for _, n := range nodes[at+1:] {
		if !slices.ContainsFunc(n.In, inside) {
			return false // an op of another branch
		}
	}
	for _, n := range nodes[at+1:] {
		for _, in := range n.In {
			if !inside(in) && !slices.Contains(nodes[at].In, in) {
				nodes[at].In = append(nodes[at].In, in)
			}
		}
	}
	for v, node := range b.from {
		if node > at {
			b.from[v] = at
		}
	}
	b.graph.Nodes, b.used = nodes[:at+1], b.used[:at+1]
	b.open = group{node: at, owner: o.path}
	return true
}

// join adds an op to the newest node.
func (b *graphBuilder) join(n tensors.GraphNode, o owner, used []int) {
	g, node := &b.open, &b.graph.Nodes[b.open.node]
	if g.begins = false; g.owner == "" {
		g.owner = o.path
	}
	if node.Path == "" && o.layer != "" && o.layer == node.Layer {
		node.Path = o.path // with the names of fields
	}
	for _, v := range n.In {
		if from, ok := b.from[v]; ok && from != g.node && !slices.Contains(node.In, from) {
			node.In = append(node.In, from)
		}
	}
	for _, v := range used {
		b.used[g.node][v] = true
		if b.counts[v] {
			continue
		}
		b.counts[v] = true
		switch size := b.traced.Values[v].Constant.Numel(); {
		case b.owners[v].trained:
			node.Parameters += size
		case !b.owners[v].buffer:
			node.Frozen += size
		}
	}
	value := b.traced.Values[n.Out]
	b.from[n.Out], g.last = g.node, n.Out
	node.Shape, node.DType = exampleOf(value.Shape), value.DType
}

// passes reports whether an op outside of layers only shows its operand in another shape or type. Then its result is that
// of the operand's node. A reshape that changes the features is a node of its own.
func (b *graphBuilder) passes(n tensors.GraphNode) bool {
	var from []int
	for _, v := range n.In {
		if node, ok := b.from[v]; ok {
			from = append(from, node)
		}
	}
	if !ir.Moves(n.Op) || len(n.In) != 1 {
		return false
	}
	in, out := b.traced.Values[n.In[0]], b.traced.Values[n.Out]
	if len(from) == 0 { // of a constant, such as a parameter
		if o, ok := b.owners[n.In[0]]; ok {
			b.owners[n.Out] = o
		}
		return true
	}
	if n.Op.Name() == "Reshape" && lastOf(in.Shape) != lastOf(out.Shape) {
		return false
	}
	b.from[n.Out] = from[0]
	if g := &b.open; !g.begins && g.last == n.In[0] && len(out.Shape) > len(in.Shape) {
		node := &b.graph.Nodes[g.node]
		node.Shape, g.last = exampleOf(out.Shape), n.Out
	}
	return true
}

func lastOf(shape []int) int {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}

// graphRow is a node as it is drawn: nodes of repeated blocks only once.
type graphRow struct {
	node GraphNode
	in   []int // rows
	fold int   // index in folds of the block to which the row belongs; -1 for none
}

// graphFold is a block that is repeated.
type graphFold struct {
	first, last int // rows
	times       int
}

// rows returns the nodes in order, with repeated blocks folded: the longest ones first found, each block at least twice in
// a row with the same layers, shapes, numbers of parameters and connections.
func (g *ModelGraph) rows() (rows []graphRow, folds []graphFold) {
	keys := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		offsets := make([]int, len(n.In))
		for k, in := range n.In {
			offsets[k] = i - in
		}
		keys[i] = fmt.Sprint(n.Layer, n.Shape, n.DType, n.Parameters, n.Frozen, offsets)
	}
	row := make([]int, len(g.Nodes)) // of each node
	for i := 0; i < len(g.Nodes); {
		length, times := g.repeats(keys, i)
		fold := -1
		if times > 1 {
			fold = len(folds)
			folds = append(folds, graphFold{len(rows), len(rows) + length - 1, times})
		}
		for k := range length {
			n := g.Nodes[i+k]
			r := graphRow{node: n, fold: fold}
			for _, in := range n.In {
				r.in = append(r.in, row[in])
			}
			row[i+k] = len(rows)
			rows = append(rows, r)
		}
		for k := length; k < length*times; k++ {
			row[i+k] = row[i+k%length]
		}
		i += length * times
	}
	return rows, folds
}

// repeats returns the block at node i that, with its repetitions, saves the most rows, and how often it is there; a block
// of one node if there is none.
func (g *ModelGraph) repeats(keys []string, i int) (length, times int) {
	length, times, saved := 1, 1, 0
	for l := 1; i+2*l <= len(keys); l++ {
		n := 1
		for at := i + l; at+l <= len(keys) && slices.Equal(keys[i:i+l], keys[at:at+l]); at += l {
			n++
		}
		for ; n > 1 && !g.closed(i, l, n); n-- {
		}
		if s := (n - 1) * l; s > saved {
			length, times, saved = l, n, s
		}
	}
	return length, times
}

// closed reports whether each repetition of a block uses only the one before it, the nodes after them use only the last one,
// and the model's output is in no other one.
func (g *ModelGraph) closed(i, length, times int) bool {
	last, end := i+length*(times-1), i+length*times
	inner := func(v int) bool { return i <= v && v < last }
	for _, n := range g.Nodes[i+length : i+2*length] { // the others are like this one
		if slices.ContainsFunc(n.In, func(v int) bool { return v < i }) {
			return false
		}
	}
	for _, n := range g.Nodes[end:] {
		if slices.ContainsFunc(n.In, inner) {
			return false
		}
	}
	return !inner(g.Output)
}
