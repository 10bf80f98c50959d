package tensor

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var (
	graphSeeds     = flag.Int("graphs", 60, "how many random graphs TestRandomGraphs compares with the float64 reference")
	firstGraphSeed = flag.Uint64("graph", 1, "the seed of the first of them")
)

// graphRuns is how often a graph runs: with gradients, and again with other data and scalars, which replays its plans, twice;
// the last run is without gradients.
const graphRuns = 4

// randomNode is a value of a random graph: a leaf, which has no f, or the result of an op.
type randomNode struct {
	text   string
	in     []int
	shape  []int
	dtype  DType
	f      func(in []*Tensor, scalar float64) *Tensor
	cast   bool // only changes the element type; the reference stays in float64
	exact  bool // moves elements, without rounding
	curved bool // its result, or its gradient, may be a difference of larger numbers, such as 1 - tanh²
	read   bool // its elements are read at once, which runs the list
	keep   bool // its elements are read at the end
	data   [graphRuns][]float64
}

// randomGraph is a program over tensors: its nodes in order, and the results whose weighted sum is differentiated.
type randomGraph struct {
	seed    uint64
	nodes   []randomNode
	outputs []int
	weights map[int][]float64 // of outputs; nil for equal weights
	scalars [graphRuns]float64
	inPlace bool // leaves are updated between the first two runs, and not set
	late    bool // values are read after Backward
	halved  bool // lists run in parts
	runs    int
	target  *ir.Recorder // on which the graph runs
}

func (g *randomGraph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph %d, in place %v, late %v, halved %v, %d runs\n", g.seed, g.inPlace, g.late, g.halved, g.runs)
	for i, n := range g.nodes {
		note := ""
		if n.read {
			note = ", read"
		}
		fmt.Fprintf(&b, "  %d = %s of %v: %v%v%s\n", i, n.text, n.in, n.dtype, n.shape, note)
	}
	fmt.Fprintf(&b, "  outputs %v", g.outputs)
	for _, o := range g.outputs {
		if g.weights[o] == nil {
			fmt.Fprintf(&b, ", %d with equal weights", o)
		}
	}
	return b.String()
}

// graphResult is what a run of a graph computes: the elements of values and of the gradients of leaves, nil for those not computed.
type graphResult struct {
	values, gradients [][]float64
	large             bool // numbers, or their squares, may exceed the range of the element type
}

// epsilonOf is the relative distance of an element's neighbors.
func epsilonOf(d DType) float64 {
	switch d {
	case Float64:
		return 0x1p-52
	case Float16:
		return 0x1p-10
	case BFloat16:
		return 0x1p-7
	}
	return 0x1p-23
}

// graphReference evaluates a graph op by op, in float64, by the compositions of ops: each op sees new tensors without views.
// If noise is not 0, all that is computed is changed by random errors of up to that many roundings, so that the distance from the
// result without noise says how much a correct program may differ.
type graphReference struct {
	recorder *ir.Recorder
	r        *rand.Rand
	noise    float64
	large    bool // whether a number was close to the range of its type
}

func newGraphReference(t *testing.T) *graphReference {
	device := cpu.New(1)
	t.Cleanup(device.Close)
	r := ir.NewRecorder(device)
	r.Composed(true)
	return &graphReference{recorder: r}
}

// noisy returns values with errors of the rounding of an element type.
func (f *graphReference) noisy(values []float64, d DType) []float64 {
	limit := 1e15
	if d == Float16 {
		limit = 150
	}
	f.large = f.large || !(largestOf(values) <= limit)
	if f.noise == 0 || values == nil {
		return values
	}
	y := make([]float64, len(values))
	for i, v := range values {
		y[i] = v * (1 + f.noise*epsilonOf(d)*(2*f.r.Float64()-1))
		if d == Float16 {
			y[i] += f.noise * 0x1p-24 * (2*f.r.Float64() - 1) // the distance of its smallest numbers
		}
	}
	return y
}

// shift adds errors of a size to values.
func (f *graphReference) shift(values []float64, size float64) {
	for i := range values {
		if f.noise != 0 {
			values[i] += f.noise * size * (2*f.r.Float64() - 1)
		}
	}
}

func largestOf(values []float64) (y float64) {
	for _, v := range values {
		y = max(y, math.Abs(v)) // NaN if there is one
	}
	return y
}

// inputs returns new float64 tensors of the values that a node reads.
func (f *graphReference) inputs(g *randomGraph, n *randomNode, values [][]float64) (in []*Tensor) {
	for _, i := range n.in {
		v := values[i]
		if !n.exact {
			v = f.noisy(v, n.dtype)
		}
		in = append(in, FromFloat64s(v, g.nodes[i].shape...))
	}
	return in
}

func (f *graphReference) value(g *randomGraph, n *randomNode, values [][]float64, scalar float64) (y []float64) {
	switch {
	case n.f == nil:
		panic("a leaf has no inputs")
	case n.cast:
		y = slices.Clone(values[n.in[0]])
		if g.nodes[n.in[0]].dtype.Size() <= n.dtype.Size() {
			return y
		}
	default:
		y = n.f(f.inputs(g, n, values), scalar).Float64s()
	}
	if n.exact {
		return y
	}
	if n.curved {
		f.shift(y, epsilonOf(n.dtype)*max(1, largestOf(values[n.in[0]])))
	}
	return f.noisy(y, n.dtype)
}

// leaves returns the elements of leaves in a run: given ones, or those of the run before, which its gradients change.
func (f *graphReference) leaves(g *randomGraph, run int, before, gradients [][]float64) [][]float64 {
	after := make([][]float64, len(g.nodes))
	for i, n := range g.nodes {
		switch {
		case n.f != nil:
		case !g.inPlace || run == 0 || run == graphRuns-1:
			after[i] = n.data[run]
		case run == 1 && gradients[i] != nil:
			for e, d := range gradients[i] {
				after[i] = append(after[i], before[i][e]-updateRate*d)
			}
			after[i] = f.noisy(after[i], n.dtype)
		default:
			after[i] = before[i]
		}
	}
	return after
}

// run evaluates the graph with the given elements of leaves.
func (f *graphReference) run(g *randomGraph, run int, leaves [][]float64, gradients bool) (result graphResult) {
	f.large = false
	defer func() { result.large = f.large }()
	withRecorder(f.recorder, func() {
		result.values = make([][]float64, len(g.nodes))
		for i := range g.nodes {
			if n := &g.nodes[i]; n.f == nil {
				result.values[i] = leaves[i]
			} else {
				result.values[i] = f.value(g, n, result.values, g.scalars[run])
			}
		}
		if !gradients {
			return
		}
		dy := make([][]float64, len(g.nodes))
		for _, o := range g.outputs {
			dy[o] = g.weights[o]
			if dy[o] == nil {
				dy[o] = slices.Repeat([]float64{g.scalars[0]}, len(result.values[o]))
			}
			dy[o] = f.noisy(slices.Clone(dy[o]), g.nodes[o].dtype)
		}
		result.gradients = make([][]float64, len(g.nodes))
		for i := len(g.nodes) - 1; i >= 0; i-- {
			n := &g.nodes[i]
			if n.f == nil {
				result.gradients[i] = dy[i]
				continue
			}
			if dy[i] == nil {
				continue
			}
			parts := [][]float64{dy[i]}
			if !n.cast {
				parts = f.products(g, n, result.values, dy[i], g.scalars[run])
			} else if g.nodes[n.in[0]].dtype.Size() < n.dtype.Size() {
				parts[0] = f.noisy(dy[i], g.nodes[n.in[0]].dtype)
			}
			for k, from := range n.in {
				if parts[k] == nil {
					continue
				}
				if dy[from] == nil {
					dy[from] = make([]float64, len(parts[k]))
				}
				for e, v := range parts[k] {
					dy[from][e] += v
				}
				if !n.exact || len(n.in) > 1 {
					dy[from] = f.noisy(dy[from], g.nodes[from].dtype)
				}
			}
		}
	})
	return result
}

// differentiate is Backward, also of what depends on no parameter.
func differentiate(loss *Tensor) {
	var state *StateError
	if err := catch(loss.Backward); err != nil && (!errors.As(err, &state) || !strings.Contains(err.Error(), "does not depend")) {
		panic(err)
	}
}

// products returns the products of the gradient of a node's result with its derivatives.
func (f *graphReference) products(g *randomGraph, n *randomNode, values [][]float64, dy []float64, scalar float64) [][]float64 {
	in := f.inputs(g, n, values)
	for i := range in {
		in[i] = Parameter(in[i])
	}
	parts := make([][]float64, len(in))
	y := n.f(in, scalar)
	scale := largestOf(dy)
	for _, from := range n.in {
		scale *= max(1, largestOf(values[from]))
	}
	differentiate(y.Mul(FromFloat64s(f.noisy(dy, n.dtype), n.shape...)).Sum())
	for i, p := range in {
		if p.Grad() != nil {
			parts[i] = f.noisy(p.Grad().Float64s(), n.dtype)
			if n.curved {
				f.shift(parts[i], scale*epsilonOf(n.dtype))
			}
		}
	}
	return parts
}

// updateRate is by how much of their gradients leaves are updated.
const updateRate = 0.0625

// lazy runs the graph as programs do: all runs, one after the other.
func (g *randomGraph) lazy() (results []graphResult) {
	if g.halved {
		locked(func(r *ir.Recorder) { r.Halved(true) })
		defer locked(func(r *ir.Recorder) { r.Halved(false) })
	}
	leaves := make([]*Tensor, len(g.nodes))
	weights := map[int]*Tensor{}
	for i, n := range g.nodes {
		if n.f == nil {
			leaves[i] = Parameter(FromFloat64s(n.data[0], n.shape...).Cast(n.dtype))
		}
	}
	for _, o := range g.outputs {
		if w := g.weights[o]; w != nil {
			weights[o] = FromFloat64s(w, g.nodes[o].shape...).Cast(g.nodes[o].dtype)
		}
	}
	for run := range g.runs {
		var result graphResult
		pass := func() {
			result = g.pass(run, leaves, weights, run < graphRuns-1)
		}
		if run == graphRuns-1 {
			NoGrad(pass)
		} else {
			pass()
		}
		results = append(results, result)
		for i, p := range leaves {
			switch {
			case p == nil:
			case g.inPlace && run == 0 && p.Grad() != nil:
				NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(updateRate))) })
			case run+1 < g.runs && (!g.inPlace || run+1 == graphRuns-1):
				p.SetData(floatsOf(g.nodes[i].data[run+1]))
			}
			if p != nil {
				p.ZeroGrad()
			}
		}
	}
	return results
}

func floatsOf(v []float64) []float32 {
	y := make([]float32, len(v))
	for i := range v {
		y[i] = float32(v[i])
	}
	return y
}

func (g *randomGraph) pass(run int, leaves []*Tensor, weights map[int]*Tensor, gradients bool) graphResult {
	result := graphResult{values: make([][]float64, len(g.nodes)), gradients: make([][]float64, len(g.nodes))}
	values := slices.Clone(leaves)
	for i, n := range g.nodes {
		if n.f == nil {
			continue
		}
		in := make([]*Tensor, len(n.in))
		for k, from := range n.in {
			in[k] = values[from]
		}
		values[i] = n.f(in, g.scalars[run])
		if n.read {
			result.values[i] = values[i].Float64s()
		}
	}
	readValues := func() {
		for i, n := range g.nodes {
			if n.keep && n.f != nil {
				result.values[i] = values[i].Float64s()
			}
		}
	}
	if !gradients {
		readValues()
		return result
	}
	if !g.late {
		readValues()
	}
	var loss *Tensor
	for _, o := range g.outputs {
		part := values[o]
		if weights[o] != nil {
			part = part.Mul(weights[o]).Sum()
		} else {
			part = part.Sum().MulScalar(g.scalars[0])
		}
		if part = part.Cast(Float64); loss == nil {
			loss = part
		} else {
			loss = loss.Add(part)
		}
	}
	differentiate(loss)
	for i, p := range leaves {
		if p != nil && p.Grad() != nil {
			result.gradients[i] = p.Grad().Float64s()
		}
	}
	if g.late {
		readValues()
	}
	return result
}

// graphNoise is how many roundings the errors of the reference's inputs and results have; a correct result of a tensor is not
// further from the reference than graphSlack times what these errors change in it.
const (
	graphNoise = 8
	graphSlack = 4
	noisyRuns  = 2
)

// check runs the graph and returns how it differs from the reference; "" if it does not. It counts the compared tensors, and
// those whose values the smallest errors change by much.
func (g *randomGraph) check(ref *graphReference, compared, unstable *int) (difference string) {
	var results []graphResult
	if err := panicsWith(func() { withRecorder(g.target, func() { results = g.lazy() }) }); err != nil {
		return fmt.Sprintf("panic: %v", err)
	}
	references := make([]graphResult, 1+noisyRuns)
	leaves := make([][][]float64, len(references))
	for run, got := range results {
		gradients := run < graphRuns-1
		for k := range references {
			ref.noise, ref.r = 0, rand.New(rand.NewPCG(g.seed, uint64(k)))
			if k > 0 {
				ref.noise = graphNoise
			}
			leaves[k] = ref.leaves(g, run, leaves[k], references[k].gradients)
			references[k] = ref.run(g, run, leaves[k], gradients)
		}
		want, noisy := references[0], references[1:]
		check := func(what string, i int, got []float64, of func(graphResult) [][]float64) {
			if got == nil || difference != "" {
				return
			}
			w := of(want)[i]
			if w == nil {
				w = make([]float64, len(got))
			}
			*compared++
			var largest, bound float64
			for e, v := range w {
				largest = max(largest, math.Abs(v))
				for _, n := range noisy {
					if of(n)[i] != nil {
						bound = max(bound, math.Abs(of(n)[i][e]-v))
					}
				}
			}
			eps := epsilonOf(g.nodes[i].dtype)
			bound = graphSlack*bound + 4*eps*largest + 1e-30
			if slices.ContainsFunc(references, func(r graphResult) bool { return r.large }) {
				*unstable++
				return
			}
			if bound > largest/4 && bound > 4*eps {
				*unstable++
			}
			if len(got) != len(w) {
				difference = fmt.Sprintf("run %d: the %s of %d has %d elements, want %d", run, what, i, len(got), len(w))
				return
			}
			for e, v := range got {
				if !(math.Abs(v-w[e]) <= bound) {
					difference = fmt.Sprintf("run %d: the %s of %d has the element %d of %v, want %v ± %.3g", run, what, i, e, v, w[e], bound)
					return
				}
			}
		}
		for i := range g.nodes {
			check("value", i, got.values[i], func(r graphResult) [][]float64 { return r.values })
		}
		for i := range g.nodes {
			if gradients {
				check("gradient", i, got.gradients[i], func(r graphResult) [][]float64 { return r.gradients })
				if n := g.nodes[i]; n.f == nil && got.gradients[i] == nil && slices.ContainsFunc(want.gradients[i], func(v float64) bool { return v != 0 }) && difference == "" {
					difference = fmt.Sprintf("run %d: %d has no gradient", run, i)
				}
			}
		}
		if difference != "" {
			return difference
		}
	}
	return ""
}

// panicsWith returns what f panics with, of any type.
func panicsWith(f func()) (err error) {
	defer func() {
		if e := recover(); e != nil {
			stack := make([]byte, 4096)
			err = fmt.Errorf("%v", e)
			if _, ok := e.(runtime.Error); ok {
				err = fmt.Errorf("%v\n%s", e, stack[:runtime.Stack(stack, false)])
			}
		}
	}()
	f()
	return nil
}

// TestRandomGraphs compares random programs of views, ops and their gradients with the same ops computed one at a time; -graphs
// and -graph choose how many and which. TestRandomPrograms mixes updates and aliases of one shape.
func TestRandomGraphs(t *testing.T) { runGraphs(t, *graphSeeds) }

func runGraphs(t *testing.T, n int) {
	ref := newGraphReference(t)
	var names []string
	var targets []*ir.Recorder
	for threads := range 3 {
		for _, name := range cpu.Implementations() {
			device := cpu.NewWith(name, threads+1)
			t.Cleanup(device.Close)
			names = append(names, fmt.Sprintf("%s, %d threads", name, threads+1))
			targets = append(targets, ir.NewRecorder(device))
		}
	}
	compared, unstable := 0, 0
	for k := range n {
		m := newRandomGraph(ref, *firstGraphSeed+uint64(k))
		if m.failure != "" {
			t.Errorf("%s\n%v", m.failure, m.graph)
			continue
		}
		m.graph.target = targets[k%len(targets)]
		difference := m.graph.check(ref, &compared, &unstable)
		if difference == "" {
			continue
		}
		small := m.graph.shrink(ref)
		var c, u int
		t.Errorf("%s: %s\n%v", names[k%len(names)], small.check(ref, &c, &u), small)
	}
	if unstable > compared/4 {
		t.Errorf("%d of %d tensors are too sensitive to errors to compare", unstable, compared)
	}
	t.Logf("%d tensors compared, %d of them too sensitive to errors", compared, unstable)
}

// shrink returns a smaller graph that fails as well.
func (g *randomGraph) shrink(ref *graphReference) *randomGraph {
	best := g
	fails := func(c *randomGraph) bool {
		var compared, unstable int
		return c.check(ref, &compared, &unstable) != ""
	}
	try := func(change func(c *randomGraph)) bool {
		c := *best
		c.nodes, c.outputs, c.weights = slices.Clone(best.nodes), slices.Clone(best.outputs), map[int][]float64{}
		for k, w := range best.weights {
			c.weights[k] = w
		}
		change(&c)
		if c.runs > 0 && len(c.outputs) > 0 && fails(&c) {
			best = &c
			return true
		}
		return false
	}
	for _, change := range []func(c *randomGraph){
		func(c *randomGraph) { c.halved = false }, func(c *randomGraph) { c.inPlace = false }, func(c *randomGraph) { c.late = false },
		func(c *randomGraph) { c.runs = 1 }, func(c *randomGraph) { c.runs = 2 }, func(c *randomGraph) { c.runs = 3 },
	} {
		try(change)
	}
	for changed := true; changed; {
		changed = false
		for i := len(best.nodes) - 1; i >= 0; i-- {
			if at := slices.Index(best.outputs, i); at >= 0 && len(best.outputs) > 1 {
				changed = try(func(c *randomGraph) { c.outputs = slices.Delete(c.outputs, at, at+1) }) || changed
			}
			if best.nodes[i].f == nil {
				continue
			}
			leaf := try(func(c *randomGraph) { c.cut(ref, i) })
			changed = leaf || changed
			if !leaf && best.nodes[i].read {
				changed = try(func(c *randomGraph) { c.nodes[i].read = false }) || changed
			}
			if !leaf && best.nodes[i].keep {
				changed = try(func(c *randomGraph) { c.nodes[i].keep = false }) || changed
			}
			for _, o := range best.outputs {
				if o == i && best.weights[o] != nil {
					try(func(c *randomGraph) { delete(c.weights, o) })
				}
			}
			if len(best.nodes[i].in) == 1 && slices.Contains(best.outputs, i) { // its input instead
				from := best.nodes[i].in[0]
				changed = try(func(c *randomGraph) {
					c.outputs[slices.Index(c.outputs, i)] = from
					delete(c.weights, i)
				}) || changed
			}
		}
	}
	try(func(c *randomGraph) { *c = *c.prune() })
	return best
}

// cut turns a node into a leaf that has its values.
func (g *randomGraph) cut(ref *graphReference, i int) {
	n := &g.nodes[i]
	ref.noise = 0
	for run := range graphRuns {
		leaves := make([][]float64, len(g.nodes))
		for k, leaf := range g.nodes {
			leaves[k] = leaf.data[run]
		}
		n.data[run] = roundTo(ref.run(g, run, leaves, false).values[i], n.dtype)
	}
	n.f, n.in, n.text, n.read, n.keep = nil, nil, "leaf", false, false
}

func roundTo(v []float64, d DType) []float64 {
	x := FromFloat64s(v, len(v)).Cast(d)
	return x.Cast(Float32).Float64s() // as SetData does
}

// prune removes the nodes that no output needs.
func (g *randomGraph) prune() *randomGraph {
	needed := make([]bool, len(g.nodes))
	for _, o := range g.outputs {
		needed[o] = true
	}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		needed[i] = needed[i] || g.nodes[i].keep || g.nodes[i].read
		if needed[i] {
			for _, from := range g.nodes[i].in {
				needed[from] = true
			}
		}
	}
	small := *g
	small.nodes, small.outputs, small.weights = nil, nil, map[int][]float64{}
	number := map[int]int{}
	for i, n := range g.nodes {
		if !needed[i] {
			continue
		}
		number[i] = len(small.nodes)
		n.in = slices.Clone(n.in)
		for k := range n.in {
			n.in[k] = number[n.in[k]]
		}
		small.nodes = append(small.nodes, n)
	}
	for _, o := range g.outputs {
		small.outputs = append(small.outputs, number[o])
		if w := g.weights[o]; w != nil {
			small.weights[number[o]] = w
		}
	}
	return &small
}
