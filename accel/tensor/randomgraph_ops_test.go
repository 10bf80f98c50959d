package tensor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// graphMaker makes a random graph.
type graphMaker struct {
	graph   *randomGraph
	r       *rand.Rand
	ref     *graphReference
	dtype   DType       // of the next ops
	values  [][]float64 // of the nodes in the first run, by the reference
	failure string      // an op that panics with anything but an error of its arguments
}

// largestGraphValue bounds the elements of the nodes in the first run.
const largestGraphValue = 1e3

// curvedOps matches the ops whose gradients are differences.
var curvedOps = regexp.MustCompile("Tanh|Sigmoid|Soft|GELU|SiLU|ELU|Erf|Exp|Attention|Recurrence|CrossEntropy|Norm|Std|Var|CDist|CumProd|Prod|Log")

// largestGraphTensor bounds the number of elements.
const largestGraphTensor = 6000

func newRandomGraph(ref *graphReference, seed uint64) *graphMaker {
	m := &graphMaker{graph: &randomGraph{seed: seed, runs: graphRuns, weights: map[int][]float64{}}, r: rand.New(rand.NewPCG(seed, 77)), ref: ref}
	m.dtype = []DType{Float32, Float32, Float32, Float32, Float32, Float32, Float64, Float16, BFloat16, Float32}[m.r.IntN(10)]
	g := m.graph
	g.inPlace, g.late, g.halved = m.chance(0.4), m.chance(0.3), m.chance(0.1)
	for run := range g.scalars {
		g.scalars[run] = 0.5 + m.r.Float64()
	}
	ops := 3 + m.r.IntN(23)
	m.leafView(m.shape(1, 4))
	for made := 0; made < 4*ops && m.failure == ""; made++ {
		if count := len(g.nodes); count > 60 {
			break
		}
		before := m.ops()
		m.step()
		if made >= ops && m.ops() > before {
			break
		}
	}
	used := make([]bool, len(g.nodes))
	for _, n := range g.nodes {
		for _, from := range n.in {
			used[from] = true
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.f == nil {
			continue
		}
		n.read, n.keep = m.chance(0.06), m.chance(0.3)
		if !used[i] || m.chance(0.05) {
			n.keep = n.keep || m.chance(0.7)
			g.outputs = append(g.outputs, i)
			if m.chance(0.75) {
				g.weights[i] = roundTo(m.data(numel(n.shape), -1, 1), n.dtype)
			}
		}
	}
	if len(g.outputs) == 0 {
		g.outputs = []int{len(g.nodes) - 1}
	}
	return m
}

func (m *graphMaker) ops() (n int) {
	for _, node := range m.graph.nodes {
		if node.f != nil {
			n++
		}
	}
	return n
}

func numel(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func (m *graphMaker) chance(p float64) bool { return m.r.Float64() < p }

func (m *graphMaker) size() int {
	if m.chance(0.12) {
		return []int{0, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100}[m.r.IntN(12)]
	}
	return []int{1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9}[m.r.IntN(12)]
}

func (m *graphMaker) shape(low, high int) []int {
	for {
		shape := make([]int, low+m.r.IntN(high-low+1))
		for i := range shape {
			shape[i] = m.size()
		}
		if numel(shape) <= largestGraphTensor {
			return shape
		}
	}
}

func (m *graphMaker) data(n int, low, high float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = low + (high-low)*m.r.Float64()
	}
	return v
}

func (m *graphMaker) leaf(shape []int) int {
	n := randomNode{text: "leaf", shape: slices.Clone(shape), dtype: m.dtype}
	for run := range n.data {
		n.data[run] = roundTo(m.data(numel(shape), -1.5, 1.5), m.dtype)
	}
	m.graph.nodes = append(m.graph.nodes, n)
	m.values = append(m.values, n.data[0])
	return len(m.graph.nodes) - 1
}

// leafView returns a new leaf, or a view of one, of a shape.
func (m *graphMaker) leafView(shape []int) int {
	if len(shape) == 0 || numel(shape) == 0 {
		return m.leaf(shape)
	}
	axis := m.r.IntN(len(shape))
	from := slices.Clone(shape)
	switch m.r.IntN(7) {
	case 0:
		perm := m.r.Perm(len(shape))
		for i, p := range perm {
			from[p] = shape[i]
		}
		return m.must(m.view(fmt.Sprintf("Permute(%v)", perm), func(x *Tensor) *Tensor { return x.Permute(perm...) }, m.leaf(from)))
	case 1:
		start := m.r.IntN(3)
		from[axis] += start + m.r.IntN(3)
		if numel(from) <= largestGraphTensor {
			return m.must(m.slice(m.leaf(from), axis, start, start+shape[axis]))
		}
	case 2:
		from[axis] = 1
		return m.expand(m.leaf(from), shape)
	case 3:
		return m.reshape(m.leaf([]int{numel(shape)}), shape)
	}
	return m.leaf(shape)
}

// must returns the node, or a new leaf if there is none.
func (m *graphMaker) must(i int, ok bool) int {
	if !ok {
		panic("a view of a leaf is refused")
	}
	return i
}

func (m *graphMaker) add(text string, exact bool, f func(in []*Tensor, s float64) *Tensor, in ...int) (int, bool) {
	n := randomNode{text: text, in: in, f: f, exact: exact, dtype: m.dtype}
	for k, from := range in {
		n.in[k] = m.as(from)
	}
	var y *Tensor
	err := panicsWith(func() {
		withRecorder(m.ref.recorder, func() {
			m.ref.noise = 0
			y = f(m.ref.inputs(m.graph, &n, m.values), m.graph.scalars[0])
			m.values = append(m.values, y.Float64s())
		})
	})
	shape := (*ShapeError)(nil)
	if err != nil {
		if err := catch(func() {
			withRecorder(m.ref.recorder, func() { f(m.ref.inputs(m.graph, &n, m.values), m.graph.scalars[0]).Float64s() })
		}); !errors.As(err, &shape) {
			m.failure = fmt.Sprintf("%s of %v panics: %v", text, n.in, err)
		}
		return 0, false
	}
	n.shape = y.Shape()
	n.curved = curvedOps.MatchString(text)
	values := m.values[len(m.values)-1]
	if len(values) > largestGraphTensor || slices.ContainsFunc(values, func(v float64) bool { return !(math.Abs(v) <= largestGraphValue) }) {
		m.values = m.values[:len(m.values)-1]
		return 0, false
	}
	m.graph.nodes = append(m.graph.nodes, n)
	return len(m.graph.nodes) - 1, true
}

// as returns a node of the element type of the next ops.
func (m *graphMaker) as(i int) int {
	if m.graph.nodes[i].dtype == m.dtype {
		return i
	}
	d := m.dtype
	m.graph.nodes = append(m.graph.nodes, randomNode{text: fmt.Sprintf("Cast(%v)", d), in: []int{i}, shape: m.graph.nodes[i].shape, dtype: d, cast: true,
		f: func(in []*Tensor, _ float64) *Tensor { return in[0].Cast(d) }})
	m.values = append(m.values, m.values[i])
	return len(m.graph.nodes) - 1
}

func (m *graphMaker) view(text string, f func(x *Tensor) *Tensor, x int) (int, bool) {
	return m.add(text, true, func(in []*Tensor, _ float64) *Tensor { return f(in[0]) }, x)
}

func (m *graphMaker) unary(text string, f func(x *Tensor) *Tensor, x int) (int, bool) {
	return m.add(text, false, func(in []*Tensor, _ float64) *Tensor { return f(in[0]) }, x)
}

func (m *graphMaker) slice(x, axis, from, to int) (int, bool) {
	return m.view(fmt.Sprintf("Slice(%d, %d, %d)", axis, from, to), func(x *Tensor) *Tensor { return x.Slice(axis, from, to) }, x)
}

func (m *graphMaker) reshape(x int, shape []int) int {
	shape = slices.Clone(shape)
	return m.must(m.view(fmt.Sprintf("Reshape(%v)", shape), func(x *Tensor) *Tensor { return x.Reshape(shape...) }, x))
}

func (m *graphMaker) expand(x int, shape []int) int {
	shape = slices.Clone(shape)
	return m.must(m.view(fmt.Sprintf("Expand(%v)", shape), func(x *Tensor) *Tensor { return x.Expand(shape...) }, x))
}

// any returns a node, more often a late one.
func (m *graphMaker) any() int {
	n := len(m.graph.nodes)
	if m.chance(0.6) {
		return n - 1 - m.r.IntN(min(n, 4))
	}
	return m.r.IntN(n)
}

func (m *graphMaker) shapeOf(i int) []int { return m.graph.nodes[i].shape }

// ranked returns a node with a number of dimensions in a range, after a reshape if need be.
func (m *graphMaker) ranked(low, high int) int {
	for range 6 {
		if i := m.any(); len(m.shapeOf(i)) >= low && len(m.shapeOf(i)) <= high {
			return i
		}
	}
	i := m.any()
	shape := slices.Clone(m.shapeOf(i))
	for len(shape) < low {
		shape = slices.Insert(shape, m.r.IntN(len(shape)+1), 1)
		for at, d := range shape { // a factor of a dimension
			if f := []int{2, 3}[m.r.IntN(2)]; d > 0 && d%f == 0 && m.chance(0.6) {
				shape[at] = d / f
				shape[slices.Index(shape, 1)] *= f
				break
			}
		}
	}
	for len(shape) > high {
		at := m.r.IntN(len(shape) - 1)
		shape[at] *= shape[at+1]
		shape = slices.Delete(shape, at+1, at+2)
	}
	if numel(shape) != numel(m.shapeOf(i)) {
		return m.leafView(m.shape(low, high))
	}
	return m.reshape(i, shape)
}

// like returns a node of a shape: one that there is, a view of one, or a new leaf.
func (m *graphMaker) like(shape []int) int {
	if numel(shape) > largestGraphTensor {
		return m.leaf(shape)
	}
	if m.chance(0.3) {
		return m.leafView(shape)
	}
	n := len(m.graph.nodes)
	for _, i := range m.r.Perm(n)[:min(n, 8)] {
		have := m.shapeOf(i)
		switch {
		case slices.Equal(have, shape):
			return i
		case len(have) == len(shape) && slices.Equal(slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(shape))):
			var perm []int
			for _, d := range shape {
				for k, h := range have {
					if h == d && !slices.Contains(perm, k) {
						perm = append(perm, k)
						break
					}
				}
			}
			return m.must(m.view(fmt.Sprintf("Permute(%v)", perm), func(x *Tensor) *Tensor { return x.Permute(perm...) }, i))
		case numel(have) == numel(shape):
			return m.reshape(i, shape)
		}
		fits, broadcasts := len(have) == len(shape), len(have) <= len(shape)
		for k := range min(len(have), len(shape)) {
			h, d := have[len(have)-1-k], shape[len(shape)-1-k]
			fits, broadcasts = fits && h >= d, broadcasts && (h == d || h == 1)
		}
		if broadcasts {
			return m.expand(i, shape)
		}
		if fits && m.chance(0.7) {
			for axis, d := range shape {
				if have[axis] > d {
					start := m.r.IntN(have[axis] - d + 1)
					i = m.must(m.slice(i, axis, start, start+d))
				}
			}
			return i
		}
	}
	return m.leafView(shape)
}

// broadcast returns a node that broadcasts with one of a shape.
func (m *graphMaker) broadcast(shape []int) int {
	shape = slices.Clone(shape)
	for i := range shape {
		if m.chance(0.3) {
			shape[i] = 1
		}
	}
	for len(shape) > 0 && m.chance(0.2) {
		shape = shape[1:]
	}
	return m.like(shape)
}

// positive returns a node of positive elements made of x.
func (m *graphMaker) positive(x int) int {
	switch m.r.IntN(3) {
	case 0:
		if i, ok := m.unary("Square().AddScalar(0.5)", func(x *Tensor) *Tensor { return x.Square().AddScalar(0.5) }, x); ok {
			return i
		}
	case 1:
		if i, ok := m.unary("Softplus().AddScalar(0.25)", func(x *Tensor) *Tensor { return x.Softplus().AddScalar(0.25) }, x); ok {
			return i
		}
	}
	return m.must(m.unary("Sigmoid().AddScalar(0.25)", func(x *Tensor) *Tensor { return x.Sigmoid().AddScalar(0.25) }, x))
}

func (m *graphMaker) axes(rank int) (axes []int) {
	for i := range rank {
		if m.chance(0.5) {
			axes = append(axes, i)
		}
	}
	return axes
}

func pick[T any](m *graphMaker, of ...T) T { return of[m.r.IntN(len(of))] }

type namedUnary struct {
	name string
	f    func(x *Tensor) *Tensor
}

type namedBinary struct {
	name string
	f    func(x, y *Tensor) *Tensor
}

type namedReduction struct {
	name string
	f    func(x *Tensor, axes ...int) *Tensor
}

type namedAlong struct {
	name string
	f    func(x *Tensor, axis int) *Tensor
}

var graphUnary = []namedUnary{
	{"Neg", (*Tensor).Neg}, {"Abs", (*Tensor).Abs}, {"Tanh", (*Tensor).Tanh}, {"Sigmoid", (*Tensor).Sigmoid}, {"Sin", (*Tensor).Sin}, {"Cos", (*Tensor).Cos},
	{"ReLU", (*Tensor).ReLU}, {"GELU", (*Tensor).GELU}, {"GELUTanh", (*Tensor).GELUTanh}, {"SiLU", (*Tensor).SiLU}, {"Softplus", (*Tensor).Softplus},
	{"Square", (*Tensor).Square}, {"HardSwish", (*Tensor).HardSwish}, {"Erf", (*Tensor).Erf}, {"Clone", (*Tensor).Clone}, {"Exp", (*Tensor).Exp},
	{"Expm1", (*Tensor).Expm1}, {"Sign", (*Tensor).Sign}, {"Detach", (*Tensor).Detach}, {"LeakyReLU", func(x *Tensor) *Tensor { return x.LeakyReLU(0.1) }},
	{"ELU", func(x *Tensor) *Tensor { return x.ELU(0.7) }}, {"Clamp", func(x *Tensor) *Tensor { return x.Clamp(-0.6, 0.4) }},
}

var graphPositive = []namedUnary{{"Log", (*Tensor).Log}, {"Sqrt", (*Tensor).Sqrt}, {"Log1p", (*Tensor).Log1p}, {"PowScalar(-0.5)", func(x *Tensor) *Tensor { return x.PowScalar(-0.5) }}}

var graphBinary = []namedBinary{
	{"Add", (*Tensor).Add}, {"Sub", (*Tensor).Sub}, {"Mul", (*Tensor).Mul}, {"Maximum", (*Tensor).Maximum}, {"Minimum", (*Tensor).Minimum},
	{"Where(x > y)", func(x, y *Tensor) *Tensor { return Where(x.Greater(y), y.Mul(x), x) }},
}

var graphReductions = []namedReduction{
	{"Sum", (*Tensor).Sum}, {"Sum", (*Tensor).Sum}, {"Mean", (*Tensor).Mean}, {"Max", (*Tensor).Max}, {"Min", (*Tensor).Min}, {"Norm", (*Tensor).Norm}, {"Prod", (*Tensor).Prod},
	{"Var(0)", func(x *Tensor, axes ...int) *Tensor { return x.Var(0, axes...) }}, {"Var(1)", func(x *Tensor, axes ...int) *Tensor { return x.Var(1, axes...) }},
	{"Std(1)", func(x *Tensor, axes ...int) *Tensor { return x.Std(1, axes...) }},
}

var graphAlong = []namedAlong{
	{"Softmax", (*Tensor).Softmax}, {"LogSoftmax", (*Tensor).LogSoftmax}, {"LogSumExp", (*Tensor).LogSumExp}, {"CumSum", (*Tensor).CumSum}, {"CumProd", (*Tensor).CumProd},
	{"Median", (*Tensor).Median}, {"Quantile(0.3)", func(x *Tensor, axis int) *Tensor { return x.Quantile(0.3, axis) }},
	{"Normalize(2)", func(x *Tensor, axis int) *Tensor { return x.Normalize(2, axis) }},
	{"Sort", func(x *Tensor, axis int) *Tensor { y, _ := x.Sort(axis, true); return y }},
	{"TopK", func(x *Tensor, axis int) *Tensor {
		y, _ := x.TopK(max(1, x.Size(axis)/2), axis, true)
		return y
	}},
	{"ArgMax one-hot", func(x *Tensor, axis int) *Tensor {
		return x.ArgMax(axis).OneHot(x.Size(axis)).Cast(x.DType()).Sum(-1)
	}},
}

// step adds one op.
func (m *graphMaker) step() {
	if m.chance(0.04) && m.dtype != Float64 {
		m.dtype = pick(m, Float32, Float32, Float16, BFloat16)
	}
	x := m.any()
	shape := m.shapeOf(x)
	switch k := m.r.IntN(100); {
	case k < 12:
		u := pick(m, graphUnary...)
		m.unary(u.name, u.f, x)
	case k < 15:
		u := pick(m, graphPositive...)
		m.unary(u.name, u.f, m.positive(x))
	case k < 20:
		m.add("MulScalar(s)", false, func(in []*Tensor, s float64) *Tensor { return in[0].MulScalar(s) }, x)
		if m.chance(0.3) {
			m.add("AddScalar(s)", false, func(in []*Tensor, s float64) *Tensor { return in[0].AddScalar(s) }, m.any())
		}
	case k < 30:
		b := pick(m, graphBinary...)
		m.add(b.name, false, func(in []*Tensor, _ float64) *Tensor { return b.f(in[0], in[1]) }, x, m.broadcast(shape))
	case k < 32:
		m.add("Div", false, func(in []*Tensor, _ float64) *Tensor { return in[0].Div(in[1]) }, x, m.positive(m.broadcast(shape)))
	case k < 41:
		r := pick(m, graphReductions...)
		axes := m.axes(len(shape))
		keep := m.chance(0.4)
		m.unary(fmt.Sprintf("%s(%v) keep %v", r.name, axes, keep), func(x *Tensor) *Tensor {
			y := r.f(x, axes...)
			if keep && len(axes) > 0 {
				for _, a := range axes {
					y = y.Unsqueeze(a)
				}
			}
			return y
		}, x)
	case k < 49:
		x = m.ranked(1, 4)
		a := pick(m, graphAlong...)
		axis := m.r.IntN(len(m.shapeOf(x)))
		m.unary(fmt.Sprintf("%s(%d)", a.name, axis), func(x *Tensor) *Tensor { return a.f(x, axis) }, x)
	case k < 66:
		m.viewStep()
	case k < 82:
		m.productStep()
	case k < 88:
		m.normStep()
	case k < 95:
		m.windowStep()
	default:
		m.lossStep()
	}
}

func (m *graphMaker) viewStep() {
	x := m.ranked(1, 5)
	shape := m.shapeOf(x)
	axis := m.r.IntN(len(shape))
	n := shape[axis]
	switch m.r.IntN(19) {
	case 0, 1:
		from := m.r.IntN(n + 1)
		m.slice(x, axis, from, from+m.r.IntN(n-from+1))
	case 2, 3:
		perm := m.r.Perm(len(shape))
		m.view(fmt.Sprintf("Permute(%v)", perm), func(x *Tensor) *Tensor { return x.Permute(perm...) }, x)
	case 4:
		m.view(fmt.Sprintf("Flip(%d)", axis), func(x *Tensor) *Tensor { return x.Flip(axis) }, x)
	case 5, 6: // a new axis, or one of size 1, repeated
		to := slices.Clone(shape)
		if n == 1 {
			to[axis] = m.size()
		} else {
			to = append([]int{m.size()}, to...)
		}
		if numel(to) <= largestGraphTensor {
			m.expand(x, to)
		}
	case 7:
		m.view(fmt.Sprintf("Unsqueeze(%d)", axis), func(x *Tensor) *Tensor { return x.Unsqueeze(axis) }, x)
	case 8:
		m.view("Squeeze()", func(x *Tensor) *Tensor { return x.Squeeze() }, x)
	case 9:
		before, after := m.r.IntN(3), m.r.IntN(3)
		m.view(fmt.Sprintf("Pad(%d, %d, %d)", axis, before, after), func(x *Tensor) *Tensor { return x.Pad(axis, before, after) }, x)
	case 10:
		shift := m.r.IntN(5) - 2
		m.view(fmt.Sprintf("Roll(%d, %d)", shift, axis), func(x *Tensor) *Tensor { return x.Roll(shift, axis) }, x)
	case 11:
		m.view(fmt.Sprintf("RepeatInterleave(3, %d)", axis), func(x *Tensor) *Tensor { return x.RepeatInterleave(3, axis) }, x)
	case 12:
		other := slices.Clone(shape)
		other[axis] = m.size()
		m.add(fmt.Sprintf("Concat(%d)", axis), true, func(in []*Tensor, _ float64) *Tensor { return Concat(axis, in...) }, x, m.like(other), m.like(shape))
	case 13:
		m.add(fmt.Sprintf("Stack(%d)", axis), true, func(in []*Tensor, _ float64) *Tensor { return Stack(axis, in...) }, x, m.like(shape))
	case 14:
		if n > 1 {
			m.view(fmt.Sprintf("Split(%d) in the other order", axis), func(x *Tensor) *Tensor {
				parts := x.Split((n+1)/2, axis)
				slices.Reverse(parts)
				return Concat(axis, parts...)
			}, x)
		}
	case 15:
		if len(shape) >= 2 {
			lower, d := m.chance(0.5), m.r.IntN(3)-1
			m.view(fmt.Sprintf("Tril or Triu %v %d", lower, d), func(x *Tensor) *Tensor {
				if lower {
					return x.Tril(d)
				}
				return x.Triu(d)
			}, x)
		}
	case 16:
		if n > 0 {
			to := slices.Clone(shape)
			to[axis] = 1 + m.r.IntN(6)
			index := make([]int, numel(to))
			for i := range index {
				index[i] = m.r.IntN(n)
			}
			m.add(fmt.Sprintf("Gather(%d, %v)", axis, to), true, func(in []*Tensor, _ float64) *Tensor { return in[0].Gather(axis, FromInts(index, to...)) }, x)
		}
	case 17:
		if shape[0] > 0 {
			index := make([]int, 1+m.r.IntN(8))
			for i := range index {
				index[i] = m.r.IntN(shape[0])
			}
			if m.chance(0.6) {
				m.view(fmt.Sprintf("IndexSelect(%v)", index), func(x *Tensor) *Tensor { return x.IndexSelect(FromInts(index, len(index))) }, x)
			} else {
				rows := 1 + slices.Max(index)
				src := m.like(append([]int{len(index)}, shape[1:]...))
				m.unary(fmt.Sprintf("IndexAdd(%v, %d)", index, rows), func(x *Tensor) *Tensor { return x.IndexAdd(FromInts(index, len(index)), rows) }, src)
			}
		}
	case 18:
		mask := make([]int, numel(shape))
		for i := range mask {
			mask[i] = m.r.IntN(2)
		}
		m.view("MaskedFill", func(x *Tensor) *Tensor { return x.MaskedFill(FromInts(mask, shape...).Cast(Float32), -0.25) }, x)
	}
}

func (m *graphMaker) productStep() {
	x := m.ranked(2, 4)
	shape := m.shapeOf(x)
	k, n := shape[len(shape)-1], m.size()
	rows := shape[:len(shape)-1]
	switch m.r.IntN(11) {
	case 0, 1, 2:
		other := m.like([]int{k, n})
		if m.chance(0.3) {
			other = m.like(append(slices.Clone(shape[:len(shape)-2]), k, n))
		}
		m.add("MatMul", false, func(in []*Tensor, _ float64) *Tensor { return in[0].MatMul(in[1]) }, x, other)
	case 3:
		left := m.like(append(slices.Clone(shape[:len(shape)-2]), n, shape[len(shape)-2]))
		m.add("MatMul", false, func(in []*Tensor, _ float64) *Tensor { return in[0].MatMul(in[1]) }, left, x)
	case 4, 5:
		act := pick(m, namedUnary{"", nil}, namedUnary{"ReLU", (*Tensor).ReLU}, namedUnary{"GELU", (*Tensor).GELU}, namedUnary{"Tanh", (*Tensor).Tanh})
		in := []int{x, m.like([]int{n, k})}
		if m.chance(0.6) {
			in = append(in, m.like([]int{n}))
		}
		m.add("Linear "+act.name, false, func(in []*Tensor, _ float64) *Tensor {
			var b *Tensor
			if len(in) > 2 {
				b = in[2]
			}
			y := Linear(in[0], in[1], b)
			if act.f != nil {
				y = act.f(y)
			}
			return y
		}, in...)
	case 6: // with its own transpose
		m.unary("x.MatMul(x.MT())", func(x *Tensor) *Tensor { return x.MatMul(x.MT()) }, x)
	case 7:
		x = m.ranked(3, 3)
		s := m.shapeOf(x)
		e := pick(m, "bij,bjk->bik", "bij,bjk->ik", "bij,bjk->bki", "bij,bjk->j")
		m.add("Einsum "+e, false, func(in []*Tensor, _ float64) *Tensor { return Einsum(e, in...) }, x, m.like([]int{s[0], s[2], n}))
	case 8: // an outer product
		m.add("outer product", false, func(in []*Tensor, _ float64) *Tensor { return in[0].MatMul(in[1]) }, m.like([]int{numel(rows) % 50, 1}), m.like([]int{1, k}))
	case 9:
		x = m.ranked(4, 4)
		s := slices.Clone(m.shapeOf(x))
		keys := slices.Clone(s)
		causal := m.chance(0.4)
		if !causal || m.chance(0.3) {
			keys[2] = max(s[2], m.size())
		}
		if m.chance(0.2) && s[1]%2 == 0 {
			keys[1] = s[1] / 2
		}
		key := m.like(keys)
		value := m.like(keys)
		if m.chance(0.2) {
			value = key
		}
		if m.chance(0.5) {
			m.add(fmt.Sprintf("Attention(%v)", causal), false, func(in []*Tensor, _ float64) *Tensor { return Attention(in[0], in[1], in[2], causal) }, x, key, value)
			return
		}
		mask := make([]int, keys[2])
		for i := range mask {
			mask[i] = min(1, m.r.IntN(4))
		}
		m.add(fmt.Sprintf("MaskedAttention(%v, %v)", causal, mask), false, func(in []*Tensor, _ float64) *Tensor {
			return MaskedAttention(in[0], in[1], in[2], AttentionMask{Causal: causal, Mask: FromInts(mask, 1, 1, 1, len(mask))})
		}, x, key, value)
	case 10:
		cell := pick(m, ir.TanhCell, ir.LSTMCell, ir.GRUCell)
		steps, sequences, hidden := 1+m.r.IntN(5), 1+m.r.IntN(5), 1+m.r.IntN(9)
		reverse, part := m.chance(0.4), m.chance(0.3)
		gates := cell.Gates() * hidden
		in := []int{m.like([]int{steps, sequences, gates}), m.like([]int{gates, hidden})}
		if m.chance(0.5) {
			in = append(in, m.like([]int{sequences, hidden}))
		}
		m.add(fmt.Sprintf("Recurrence %v, reverse %v, last %v", cell, reverse, part), false, func(in []*Tensor, _ float64) *Tensor {
			r := recurrence{Cell: cell, Reverse: reverse, X: in[0], Weight: in[1]}
			if len(in) > 2 {
				r.H = in[2]
			}
			y, h, _ := r.run()
			if part {
				return h
			}
			return y
		}, in...)
	}
}

func (m *graphMaker) normStep() {
	x := m.ranked(2, 4)
	shape := m.shapeOf(x)
	dims := 1 + m.r.IntN(len(shape)-1)
	switch m.r.IntN(4) {
	case 0, 1:
		in := []int{x}
		if m.chance(0.8) {
			in = append(in, m.like(shape[len(shape)-dims:]), m.like(shape[len(shape)-dims:]))
		}
		m.add(fmt.Sprintf("LayerNorm(%d)", dims), false, func(in []*Tensor, _ float64) *Tensor {
			if len(in) == 1 {
				return LayerNorm(in[0], nil, nil, dims, 1e-2)
			}
			return LayerNorm(in[0], in[1], in[2], dims, 1e-2)
		}, in...)
	case 2:
		m.add(fmt.Sprintf("RMSNorm(%d)", dims), false, func(in []*Tensor, _ float64) *Tensor { return RMSNorm(in[0], in[1], dims, 1e-2) }, x, m.like(shape[len(shape)-dims:]))
	case 3:
		relu := m.chance(0.4)
		m.add(fmt.Sprintf("BatchNorm, ReLU %v", relu), false, func(in []*Tensor, _ float64) *Tensor {
			y := BatchNorm(in[0], in[1], in[2], nil, nil, 0.1, 1e-2, true)
			if relu {
				y = y.ReLU()
			}
			return y
		}, x, m.like(shape[1:2]), m.like(shape[1:2]))
	}
}

func (m *graphMaker) windowStep() {
	x := m.ranked(4, 4)
	shape := m.shapeOf(x)
	w := Window{Stride: [2]int{1 + m.r.IntN(2), 1 + m.r.IntN(2)}, Padding: [2]int{m.r.IntN(2), m.r.IntN(2)}, Groups: 1}
	if m.chance(0.2) {
		w.Dilation = [2]int{1 + m.r.IntN(2), 1 + m.r.IntN(2)}
	}
	kernel := [2]int{1 + m.r.IntN(3), 1 + m.r.IntN(3)}
	channels, out := shape[1], m.size()
	switch m.r.IntN(8) {
	case 0, 1, 2, 3, 4:
		if channels > 1 && m.chance(0.4) {
			w.Groups = channels
			if channels%2 == 0 && m.chance(0.5) {
				w.Groups = 2
			}
			out = w.Groups * (1 + m.r.IntN(2))
		}
		if channels == 0 || out == 0 || channels%w.Groups != 0 {
			return
		}
		transposed := m.chance(0.3)
		weight := []int{out, channels / w.Groups, kernel[0], kernel[1]}
		if transposed {
			weight = []int{channels, out / w.Groups, kernel[0], kernel[1]}
		}
		in := []int{x, m.like(weight)}
		if m.chance(0.5) {
			in = append(in, m.like([]int{out}))
		}
		m.add(fmt.Sprintf("Conv2D(%v, transposed %v)", w, transposed), false, func(in []*Tensor, _ float64) *Tensor {
			var b *Tensor
			if len(in) > 2 {
				b = in[2]
			}
			if transposed {
				return ConvTranspose2D(in[0], in[1], b, w, [2]int{})
			}
			return Conv2D(in[0], in[1], b, w)
		}, in...)
	case 5:
		w.Dilation, w.Groups = [2]int{}, 0
		w.Padding = [2]int{min(w.Padding[0], kernel[0]/2), min(w.Padding[1], kernel[1]/2)}
		largest := m.chance(0.5)
		m.unary(fmt.Sprintf("pool, max %v, %v %v", largest, kernel, w), func(x *Tensor) *Tensor {
			if largest {
				return MaxPool2D(x, kernel, w)
			}
			return AvgPool2D(x, kernel, w)
		}, x)
	case 6:
		u := pick(m, namedUnary{"GlobalAvgPool2D", GlobalAvgPool2D}, namedUnary{"UpsampleNearest", func(x *Tensor) *Tensor { return UpsampleNearest(x, 2) }},
			namedUnary{"UpsampleBilinear", func(x *Tensor) *Tensor { return UpsampleBilinear(x, 2) }})
		m.unary(u.name, u.f, x)
	case 7:
		x = m.ranked(3, 3)
		s := m.shapeOf(x)
		if out == 0 || s[1] == 0 {
			return
		}
		w := Window{Stride: [2]int{0, w.Stride[1]}, Padding: [2]int{0, w.Padding[1]}, Groups: 1}
		m.add(fmt.Sprintf("Conv1D(%v)", w), false, func(in []*Tensor, _ float64) *Tensor { return Conv1D(in[0], in[1], nil, w) }, x, m.like([]int{out, s[1], kernel[0]}))
	}
}

func (m *graphMaker) lossStep() {
	x := m.ranked(2, 2)
	shape := m.shapeOf(x)
	switch m.r.IntN(4) {
	case 0:
		m.add("MSE", false, func(in []*Tensor, _ float64) *Tensor { return MSE(in[0], in[1]) }, x, m.like(shape))
	case 1, 2:
		if shape[0] == 0 || shape[1] == 0 {
			return
		}
		labels := make([]int, shape[0])
		for i := range labels {
			labels[i] = m.r.IntN(shape[1])
		}
		masked := m.chance(0.4)
		m.unary(fmt.Sprintf("CrossEntropy, masked %v", masked), func(x *Tensor) *Tensor {
			if masked {
				return MaskedCrossEntropy(x, FromInts(labels, len(labels)), labels[0]).Cast(x.DType()) // of 16-bit logits it is float32
			}
			return CrossEntropy(x, FromInts(labels, len(labels)))
		}, x)
	case 3:
		m.add("CDist", false, func(in []*Tensor, _ float64) *Tensor { return CDist(in[0], in[1]) }, x, m.like([]int{m.size(), shape[1]}))
	}
}
