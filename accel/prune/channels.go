package prune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ChannelReport is the result of [Channels]. Notebooks display it as a table.
type ChannelReport struct {
	Layers []ChannelLayer // in the order of the model
}

// ChannelLayer describes one layer: the number of its outputs before and after, and the reason if no
// output was removed.
type ChannelLayer struct {
	Name, Layer   string // name in the model, and the layer as a Go expression
	Before, After int    // outputs
	Reason        string // "" if outputs were removed
}

// Channels removes a fraction of the outputs of layers, those whose weights have the smallest sum
// of absolute values (Li et al., Pruning Filters for Efficient ConvNets, 2017), and the
// corresponding inputs of the next layers. The tensors of the model become smaller.
//
// A layer loses outputs if everything after it in its nn.Sequential, up to the next Dense or
// Conv2D, treats each channel on its own: BatchNorm (whose parameters are pruned too), activations,
// pooling, Dropout, Flatten, and depthwise convolutions. This also applies to the layers inside a
// residual. Layers whose outputs are added to the shortcut keep all outputs, and so do the last
// layer of a model, layers before modules of other types, and layers that are used more than once.
// [ChannelReport] lists them with the reason.
//
// x is a batch of example inputs. For each pruned layer Channels runs x through the model and
// checks that the output equals that of the unpruned model with zero weights for the removed
// inputs. If it does not, a layer uses its input in another way than channel by channel, and the
// error names the layer. Options are [L2] and [Except].
//
// Optimizers and masks created before refer to the old tensors. Errors are those of [Magnitude];
// after an error the model is unchanged.
func Channels(model nn.Module, x *tensor.Tensor, share float64, options ...Option) (c *ChannelReport, err error) {
	defer nn.Catch(&err)
	if model == nil || x == nil {
		return nil, errors.New("prune: Channels: model or x is nil: pass a model and a batch of inputs")
	}
	if err := checkSparsity(share); err != nil {
		return nil, err
	}
	o, err := newOptions("Channels", options, "L2", "Except")
	if err != nil {
		return nil, err
	}
	evaluate(model, x) // creates missing parameters
	if _, err := selectLayers(model, o.except); err != nil {
		return nil, err
	}
	f := newFinder(model)
	c = &ChannelReport{}
	var cuts []*group
	for _, p := range f.all {
		g := f.groups[p]
		row := ChannelLayer{Name: p.name, Layer: fmt.Sprint(p.module), Before: p.outputs(), After: p.outputs(), Reason: f.reasons[p]}
		switch {
		case slices.Contains(o.except, p.name):
			row.Reason = "excluded by Except"
		case g != nil && row.Reason == "":
			if err := g.selectOutputs(share, o.l2); err != nil {
				return nil, err
			}
			if err := g.check(); err != nil {
				return nil, err
			}
			if row.After = len(g.keep); row.After == row.Before {
				row.Reason = "the fraction is less than one output"
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

// evaluate returns the output of a model in evaluation mode.
func evaluate(model nn.Module, x *tensor.Tensor) (y []float32) {
	tensor.NoGrad(func() {
		layer.Substitute(layer.Substitutes{}, func() { y = model.Forward(x).Data() })
	})
	return y
}

// tryCut removes channels and checks that the output equals that of a model that ignores them.
func (g *group) tryCut(model nn.Module, x *tensor.Tensor) (err error) {
	defer nn.Catch(&err)
	whole := *g.to.Weight
	*g.to.Weight = g.maskedWeight()
	want := func() []float32 {
		defer func() { *g.to.Weight = whole }()
		return evaluate(model, x)
	}()
	g.cut()
	got := evaluate(model, x)
	size, difference := 0.0, 0.0
	for i, v := range want {
		size += float64(v) * float64(v)
		if i < len(got) {
			difference += float64(v-got[i]) * float64(v-got[i])
		}
	}
	if len(got) != len(want) || !(difference <= 1e-6*size+1e-12) {
		return fmt.Errorf("the output of the model changes, so the outputs of the layer are not the input channels of %s; exclude the layer with Except", g.to.name)
	}
	return nil
}

// maskedWeight returns the weight of the next layer with zeros for the removed channels.
func (g *group) maskedWeight() *tensor.Tensor {
	w := *g.to.Weight
	shape, data := w.Shape(), w.Float64s()
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
	return tensor.FromFloat64s(data, shape...).Cast(w.DType())
}

func (p *prunable) outputs() int { return (*p.Weight).Size(0) }

// depthwise reports whether the layer is a depthwise convolution.
func (p *prunable) depthwise() bool {
	w := (*p.Weight).Shape()
	return p.Image && p.Window.Groups > 1 && p.Window.Groups == w[0] && w[1] == 1
}

// group is a layer whose outputs can be removed, with everything that loses the same channels.
type group struct {
	from      *prunable
	channels  []*prunable // depthwise convolutions between from and to
	norms     []layer.Normalization
	to        *prunable
	keep      []int    // indices of the remaining outputs, ascending
	undoSteps []func() // undo the steps of cut
}

func (g *group) undo() {
	for _, f := range slices.Backward(g.undoSteps) {
		f()
	}
	g.undoSteps = nil
}

// selectOutputs selects the outputs that remain.
func (g *group) selectOutputs(share float64, l2 bool) error {
	w, err := g.from.weights()
	if err != nil {
		return err
	}
	n := g.from.outputs()
	each := len(w) / n
	sizes := make([]float64, n)
	for o := range n {
		for _, v := range w[o*each:][:each] {
			if l2 {
				sizes[o] += float64(v) * float64(v)
			} else {
				sizes[o] += math.Abs(float64(v))
			}
		}
	}
	remaining := n - int(math.Round(share*float64(n)))
	if remaining == 0 {
		return &EmptyLayerError{g.from.name, share}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	g.keep = order[:remaining]
	slices.Sort(g.keep)
	return nil
}

// check returns an error if the tensors of a group are missing or their sizes do not match.
func (g *group) check() error {
	n := g.from.outputs()
	to := (*g.to.Weight).Size(1)
	if g.to.Image && to != n || to%n != 0 {
		return &LayerError{g.to.name, fmt.Errorf("it has %d inputs, but %s before it has %d outputs", to, g.from.name, n)}
	}
	for _, norm := range g.norms {
		if *norm.Weight == nil || (*norm.Weight).Numel() != n {
			return &LayerError{g.from.name, errors.New("the normalization after it has another size or was never used")}
		}
	}
	for _, c := range g.channels {
		if c.outputs() != n {
			return &LayerError{c.name, fmt.Errorf("it has %d channels, but %s before it has %d outputs", c.outputs(), g.from.name, n)}
		}
	}
	return nil
}

// inputs returns the indices of the remaining inputs of the next layer. After a Flatten each
// channel has several inputs.
func (g *group) inputs() []int {
	positions := (*g.to.Weight).Size(1) / g.from.outputs()
	var list []int
	for _, c := range g.keep {
		for i := range positions {
			list = append(list, c*positions+i)
		}
	}
	return list
}

// cut replaces the tensors by smaller ones.
func (g *group) cut() {
	inputs, n := g.inputs(), g.from.outputs()
	g.selectSlices(g.to.Weight, 1, inputs)
	rows := func(p *prunable) {
		g.selectSlices(p.Weight, 0, g.keep)
		if p.Bias != nil && *p.Bias != nil {
			g.selectSlices(p.Bias, 0, g.keep)
		}
		p.SetOut(len(g.keep))
		g.undoSteps = append(g.undoSteps, func() { p.SetOut(n) })
	}
	rows(g.from)
	for _, norm := range g.norms {
		for _, t := range []**tensor.Tensor{norm.Weight, norm.Bias, norm.Mean, norm.Variance} {
			g.selectSlices(t, 0, g.keep)
		}
	}
	for _, c := range g.channels {
		rows(c)
		c.SetGroups(len(g.keep))
		c.Window.Groups = len(g.keep)
		g.undoSteps = append(g.undoSteps, func() { c.SetGroups(n); c.Window.Groups = n })
	}
}

// selectSlices replaces a parameter by some of its slices along an axis.
func (g *group) selectSlices(slot **tensor.Tensor, axis int, index []int) {
	old := *slot
	g.undoSteps = append(g.undoSteps, func() { *slot = old })
	shape := old.Shape()
	data := old.Float64s()
	outer, inner := ir.Len(shape[:axis]), ir.Len(shape[axis+1:])
	kept := make([]float64, 0, outer*len(index)*inner)
	for o := range outer {
		for _, i := range index {
			kept = append(kept, data[(o*shape[axis]+i)*inner:][:inner]...)
		}
	}
	shape[axis] = len(index)
	next := tensor.FromFloat64s(kept, shape...).Cast(old.DType())
	next.SetRequiresGrad(old.RequiresGrad())
	tensors.SetMetadata(next, tensors.Metadata(old)) // what the model was trained with
	*slot = next
}
