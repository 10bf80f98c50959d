package prune

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// finder finds the groups in the nn.Sequential layers of a model.
type finder struct {
	all     []*prunable
	shared  map[*tensor.Tensor]int // number of layers that share a weight
	of      map[nn.Module]*prunable
	uses    map[nn.Module]int
	groups  map[*prunable]*group
	reasons map[*prunable]string
}

func newFinder(model nn.Module) *finder {
	f := &finder{all: prunableLayers(model), shared: map[*tensor.Tensor]int{}, of: map[nn.Module]*prunable{}, uses: map[nn.Module]int{}, groups: map[*prunable]*group{}, reasons: map[*prunable]string{}}
	for _, p := range f.all {
		f.of[p.module] = p
		f.reasons[p] = "it is not in an nn.Sequential, so the users of its outputs are unknown"
	}
	inner := map[*nn.SequentialLayer]bool{}
	var chains []*nn.SequentialLayer
	for _, m := range nn.NamedModules(model) {
		if p, ok := layer.Of(m.Module).(layer.MatMul); ok {
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
			f.chain(flatten(c))
		}
	}
	return f
}

// flatten returns the modules of an nn.Sequential, with those of nested ones.
func flatten(c *nn.SequentialLayer) []nn.Module {
	var all []nn.Module
	for _, m := range c.Layers() {
		if within, ok := m.(*nn.SequentialLayer); ok {
			all = append(all, flatten(within)...)
			continue
		}
		all = append(all, m)
	}
	return all
}

// chain finds the groups of the layers of an nn.Sequential.
func (f *finder) chain(layers []nn.Module) {
	for i, m := range layers {
		p := f.of[m]
		if p == nil || !isSingleLayer(m) {
			continue
		}
		g, reason := f.follow(p, layers[i+1:])
		if reason == "" {
			f.groups[p] = g
		}
		f.reasons[p] = reason
	}
}

// isSingleLayer reports whether a module is a single Dense or Conv2D layer.
func isSingleLayer(m nn.Module) bool {
	switch m.(type) {
	case *nn.DenseLayer, *nn.Conv2DLayer:
		return true
	}
	return false
}

// follow returns the group of p, or the reason why its outputs cannot be removed.
func (f *finder) follow(p *prunable, layers []nn.Module) (*group, string) {
	switch {
	case p.depthwise():
		return nil, "it is a depthwise convolution"
	case p.Window.Groups > 1:
		return nil, "it is a grouped convolution"
	case f.uses[p.module] > 1:
		return nil, "it is used more than once"
	case f.shared[*p.Weight] > 1:
		return nil, "it shares its weight with another layer"
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
		case layer.MatMul:
			next := f.of[m]
			switch {
			case next == nil || !isSingleLayer(m):
				return nil, fmt.Sprintf("it comes before %v, whose input channels cannot be removed", m)
			case next.depthwise():
				g.channels = append(g.channels, next)
				continue
			case next.Window.Groups > 1:
				return nil, fmt.Sprintf("it comes before %v, which is a grouped convolution", m)
			case f.shared[*next.Weight] > 1:
				return nil, fmt.Sprintf("it comes before %v, which shares its weight with another layer", m)
			}
			g.to = next
			return g, ""
		case layer.Shortcut:
			return nil, "its outputs are added to the shortcut of a residual"
		default:
			return nil, fmt.Sprintf("it comes before %s, which may mix channels", layer.Name(m))
		}
	}
	return nil, "its outputs are the outputs of its nn.Sequential"
}

func isNorm(m nn.Module) bool { _, ok := layer.Of(m).(layer.Normalization); return ok }

// prunable is a layer with a prunable weight.
type prunable struct {
	layer.MatMul
	name   string
	module nn.Module
}

// prunableLayers returns the layers of a model with a prunable weight; a shared weight appears once.
func prunableLayers(model nn.Module) []*prunable {
	var found []*prunable
	known := map[*tensor.Tensor]bool{}
	for _, m := range nn.NamedModules(model) {
		p, ok := layer.Of(m.Module).(layer.MatMul)
		if !ok || *p.Weight != nil && known[*p.Weight] {
			continue
		}
		known[*p.Weight] = true
		found = append(found, &prunable{p, m.Name, m.Module})
	}
	return found
}

// selectLayers returns the layers to prune; their weights must exist.
func selectLayers(model nn.Module, except []string) ([]*prunable, error) {
	if model == nil {
		return nil, errors.New("prune: model is nil")
	}
	all := prunableLayers(model)
	for _, name := range except {
		at := slices.IndexFunc(all, func(p *prunable) bool { return p.name == name })
		if at < 0 {
			return nil, &UnknownLayerError{name, names(all)}
		}
		all = slices.Delete(all, at, at+1)
	}
	if len(all) == 0 {
		return nil, errors.New("prune: the model has no layer to prune: linear layers, convolutions and the input projections of attention can be pruned, unless Except names them")
	}
	for _, p := range all {
		if *p.Weight == nil {
			return nil, &LayerError{p.name, errors.New("it has no weight yet: call the model once")}
		}
	}
	return all, nil
}

func names(all []*prunable) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.name)
	}
	return list
}

// weights returns the values of a layer's weight, which must be finite.
func (p *prunable) weights() ([]float32, error) {
	w := (*p.Weight).Data()
	for i, v := range w {
		if v-v != 0 {
			return nil, &LayerError{p.name, &tensor.NonFiniteError{What: p.Names[0], Element: i, Value: float64(v)}}
		}
	}
	return w, nil
}
