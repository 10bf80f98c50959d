package prune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Cut is what [Channels] has done. It is a table that shows itself.
type Cut struct {
	Layers []CutLayer
}

// CutLayer is a layer, the outputs that it had and has, and why none was removed.
type CutLayer struct {
	Name, Layer   string
	Before, After int
	Reason        string
}

// Channels removes this share of the outputs of layers, those whose weights have the
// smallest sum of absolute values (Li et al., Pruning Filters for Efficient ConvNets,
// 2017), and with them the inputs of the layers that follow: the model has smaller
// tensors from then on.
//
// A layer is cut where what follows it in its chain, up to the next product, treats
// each channel on its own: BatchNorm, whose numbers are cut too, activations, pools,
// Dropout, Flatten, and depthwise convolutions. Within a residual that holds for the
// layers inside; those whose outputs are added to the shortcut keep all of them, and so
// do the last layer of a model, layers that come before modules of other types, and
// those that are used more than once. [Cut] lists them with the reason.
//
// x is some examples, as the model is called with. With each cut they are run through
// the model, which must give what it gives while the layer that follows ignores the
// outputs that were removed: otherwise a layer does not use its input as a chain of
// such layers does, and the error names it.
//
// Optimisers and masks made before the cut are of tensors that are gone. Errors are as
// those of [Magnitude]; after one the model is as it was.
func Channels(model nn.Module, x *tensor.Tensor, share float64, options ...Option) (c *Cut, err error) {
	defer nn.Catch(&err)
	if model == nil || x == nil {
		return nil, errors.New("prune: Channels: a model and some examples for it are needed")
	}
	if err := checkSparsity(share); err != nil {
		return nil, err
	}
	o, err := newOptions(options)
	if err != nil {
		return nil, err
	}
	evaluated(model, x) // which makes parameters that are missing
	if _, err := chosen(model, o.except); err != nil {
		return nil, err
	}
	f := newFinder(model)
	c = &Cut{}
	var cuts []*group
	for _, p := range f.all {
		g := f.groups[p]
		row := CutLayer{Name: p.name, Layer: fmt.Sprint(p.module), Before: p.outputs(), After: p.outputs(), Reason: f.reasons[p]}
		switch {
		case slices.Contains(o.except, p.name):
			row.Reason = "left so by Except"
		case g != nil && row.Reason == "":
			if err := g.choose(share, o.squares); err != nil {
				return nil, err
			}
			if err := g.check(); err != nil {
				return nil, err
			}
			if row.After = len(g.keep); row.After == row.Before {
				row.Reason = "the share is less than one of its outputs"
			}
			if row.After < row.Before {
				cuts = append(cuts, g)
			}
		}
		c.Layers = append(c.Layers, row)
	}
	for i, g := range cuts {
		if err := g.tryCut(model, x); err != nil {
			for _, done := range slices.Backward(cuts[:i+1]) {
				done.undo()
			}
			return nil, &LayerError{g.from.name, err}
		}
	}
	return c, nil
}

// evaluated is what a model gives in evaluation.
func evaluated(model nn.Module, x *tensor.Tensor) (y []float32) {
	tensor.NoGrad(func() {
		substitute.Within(substitute.Table{}, func() { y = model.Forward(x).Data() })
	})
	return y
}

// tryCut cuts, and compares the model with one that ignores what is to be removed.
func (g *group) tryCut(model nn.Module, x *tensor.Tensor) (err error) {
	defer nn.Catch(&err)
	whole := *g.to.Weight
	*g.to.Weight = g.ignoring()
	want := func() []float32 {
		defer func() { *g.to.Weight = whole }()
		return evaluated(model, x)
	}()
	g.cut()
	got := evaluated(model, x)
	size, difference := 0.0, 0.0
	for i, v := range want {
		size += float64(v) * float64(v)
		if i < len(got) {
			difference += float64(v-got[i]) * float64(v-got[i])
		}
	}
	if len(got) != len(want) || !(difference <= 1e-6*size+1e-12) {
		return fmt.Errorf("what the model gives shows that its outputs are not the inputs of %s, channel by channel: leave it out with Except", g.to.name)
	}
	return nil
}

// ignoring is the weight of the layer that follows, with zeros for what is removed.
func (g *group) ignoring() *tensor.Tensor {
	w := *g.to.Weight
	shape, data := w.Shape(), w.Data()
	stays := make([]bool, shape[1])
	for _, i := range g.inputs() {
		stays[i] = true
	}
	inner := len(data) / (shape[0] * shape[1])
	for i := range data {
		if !stays[i/inner%shape[1]] {
			data[i] = 0
		}
	}
	return tensor.New(data, shape...)
}

func (p *product) outputs() int { return (*p.Weight).Size(0) }

// depthwise tells whether each channel has an output of its own.
func (p *product) depthwise() bool {
	w := (*p.Weight).Shape()
	return p.Image && p.Window.Groups > 1 && p.Window.Groups == w[0] && w[1] == 1
}

// group is a product whose outputs can be cut, and what has to be cut with it.
type group struct {
	from     *product
	channels []*product // depthwise convolutions on the way
	norms    []layer.Normalization
	to       *product
	keep     []int    // outputs that stay, in order
	undoing  []func() // what cut has done
}

func (g *group) undo() {
	for _, f := range slices.Backward(g.undoing) {
		f()
	}
	g.undoing = nil
}

// finder looks for groups in the chains of a model.
type finder struct {
	all     []*product
	shared  map[*tensor.Tensor]int // how many layers have a weight
	of      map[nn.Module]*product
	uses    map[nn.Module]int
	groups  map[*product]*group
	reasons map[*product]string
}

func newFinder(model nn.Module) *finder {
	f := &finder{all: products(model), shared: map[*tensor.Tensor]int{}, of: map[nn.Module]*product{}, uses: map[nn.Module]int{}, groups: map[*product]*group{}, reasons: map[*product]string{}}
	for _, p := range f.all {
		f.of[p.module] = p
		f.reasons[p] = "it is not in a chain, and what its outputs are used for is not known"
	}
	inner := map[*nn.SequentialLayer]bool{}
	var chains []*nn.SequentialLayer
	for _, m := range nn.NamedModules(model) {
		if p, ok := layer.Of(m.Module).(layer.Product); ok {
			f.shared[*p.Weight]++
		}
		var c *nn.SequentialLayer
		switch l := layer.Of(m.Module).(type) {
		case layer.Shortcut:
			c, _ = l.Chain.(*nn.SequentialLayer)
		default:
			c, _ = m.Module.(*nn.SequentialLayer)
		}
		if c == nil {
			continue
		}
		for _, part := range c.Layers() {
			f.uses[part]++
			if within, ok := part.(*nn.SequentialLayer); ok {
				inner[within] = true
			}
		}
		chains = append(chains, c)
	}
	for _, c := range chains {
		if !inner[c] {
			f.chain(flat(c))
		}
	}
	return f
}

// flat is the modules of a chain and of chains in it.
func flat(c *nn.SequentialLayer) []nn.Module {
	var all []nn.Module
	for _, m := range c.Layers() {
		if within, ok := m.(*nn.SequentialLayer); ok {
			all = append(all, flat(within)...)
			continue
		}
		all = append(all, m)
	}
	return all
}

// chain looks for the group of each product of a chain.
func (f *finder) chain(layers []nn.Module) {
	for i, m := range layers {
		p := f.of[m]
		if p == nil || !plain(m) {
			continue
		}
		g, reason := f.follow(p, layers[i+1:])
		if reason == "" {
			f.groups[p] = g
		}
		f.reasons[p] = reason
	}
}

// plain tells whether a module is a linear layer or a convolution and nothing else.
func plain(m nn.Module) bool {
	switch m.(type) {
	case *nn.DenseLayer, *nn.Conv2DLayer:
		return true
	}
	return false
}

// follow goes from a product to the next, or to what keeps its outputs from being cut.
func (f *finder) follow(p *product, layers []nn.Module) (*group, string) {
	switch {
	case p.depthwise():
		return nil, "its channels are those of the layer before"
	case p.Window.Groups > 1:
		return nil, "it has groups"
	case f.uses[p.module] > 1:
		return nil, "it is used more than once"
	case f.shared[*p.Weight] > 1:
		return nil, "its weight is another layer's too"
	}
	g := &group{from: p}
	for _, m := range layers {
		if f.uses[m] > 1 && (f.of[m] != nil || isNorm(m)) {
			return nil, fmt.Sprintf("it comes before %v, which is used more than once", m)
		}
		switch l := layer.Of(m).(type) {
		case layer.ReLU, layer.Elementwise, layer.MaxPool, layer.Channelwise, layer.Flatten, layer.Dropout:
		case layer.Normalization:
			g.norms = append(g.norms, l)
		case layer.Product:
			next := f.of[m]
			switch {
			case next == nil || !plain(m):
				return nil, fmt.Sprintf("it comes before %v", m)
			case next.depthwise():
				g.channels = append(g.channels, next)
				continue
			case next.Window.Groups > 1:
				return nil, fmt.Sprintf("it comes before %v, which has groups", m)
			case f.shared[*next.Weight] > 1:
				return nil, fmt.Sprintf("it comes before %v, whose weight is another layer's too", m)
			}
			g.to = next
			return g, ""
		case layer.Shortcut:
			return nil, "its outputs are added in a residual"
		default:
			return nil, fmt.Sprintf("it comes before %s, of which is not known what it does with channels", name(m))
		}
	}
	return nil, "its outputs are those of its chain"
}

func isNorm(m nn.Module) bool { _, ok := layer.Of(m).(layer.Normalization); return ok }

// name is what a module calls itself, or its type.
func name(m nn.Module) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*")
}

// choose decides which outputs stay.
func (g *group) choose(share float64, squares bool) error {
	w, err := g.from.weights()
	if err != nil {
		return err
	}
	n := g.from.outputs()
	each := len(w) / n
	sizes := make([]float64, n)
	for o := range n {
		for _, v := range w[o*each:][:each] {
			if squares {
				sizes[o] += float64(v) * float64(v)
			} else {
				sizes[o] += math.Abs(float64(v))
			}
		}
	}
	stay := n - int(math.Round(share*float64(n)))
	if stay == 0 {
		return &WholeLayerError{g.from.name, share}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	g.keep = order[:stay]
	slices.Sort(g.keep)
	return nil
}

// check refuses what does not fit together: tensors that are missing, or have sizes
// that the chain does not explain.
func (g *group) check() error {
	n := g.from.outputs()
	to := (*g.to.Weight).Size(1)
	if g.to.Image && to != n || to%n != 0 {
		return &LayerError{g.to.name, fmt.Errorf("it has %d inputs, and %s before it %d outputs", to, g.from.name, n)}
	}
	for _, norm := range g.norms {
		if *norm.Weight == nil || (*norm.Weight).Numel() != n {
			return &LayerError{g.from.name, errors.New("the normalisation behind it is of another size, or was never used")}
		}
	}
	for _, c := range g.channels {
		if c.outputs() != n {
			return &LayerError{c.name, fmt.Errorf("it has %d channels, and %s before it %d outputs", c.outputs(), g.from.name, n)}
		}
	}
	return nil
}

// inputs are those of the layer that follows that stay: behind a Flatten each channel
// has several.
func (g *group) inputs() []int {
	places := (*g.to.Weight).Size(1) / g.from.outputs()
	var list []int
	for _, c := range g.keep {
		for i := range places {
			list = append(list, c*places+i)
		}
	}
	return list
}

// cut makes the tensors smaller.
func (g *group) cut() {
	inputs, n := g.inputs(), g.from.outputs()
	g.take(g.to.Weight, 1, inputs)
	rows := func(p *product) {
		g.take(p.Weight, 0, g.keep)
		if p.Bias != nil && *p.Bias != nil {
			g.take(p.Bias, 0, g.keep)
		}
		p.SetOut(len(g.keep))
		g.undoing = append(g.undoing, func() { p.SetOut(n) })
	}
	rows(g.from)
	for _, norm := range g.norms {
		for _, t := range []**tensor.Tensor{norm.Weight, norm.Bias, norm.Mean, norm.Variance} {
			g.take(t, 0, g.keep)
		}
	}
	for _, c := range g.channels {
		rows(c)
		c.SetGroups(len(g.keep))
		c.Window.Groups = len(g.keep)
		g.undoing = append(g.undoing, func() { c.SetGroups(n); c.Window.Groups = n })
	}
}

// take replaces a parameter by some of its slices along an axis.
func (g *group) take(slot **tensor.Tensor, axis int, index []int) {
	old := *slot
	g.undoing = append(g.undoing, func() { *slot = old })
	shape := old.Shape()
	data := old.Data()
	outer, inner := 1, 1
	for _, d := range shape[:axis] {
		outer *= d
	}
	for _, d := range shape[axis+1:] {
		inner *= d
	}
	kept := make([]float32, 0, outer*len(index)*inner)
	for o := range outer {
		for _, i := range index {
			kept = append(kept, data[(o*shape[axis]+i)*inner:][:inner]...)
		}
	}
	shape[axis] = len(index)
	next := tensor.New(kept, shape...)
	next.SetRequiresGrad(old.RequiresGrad())
	*slot = next
}
