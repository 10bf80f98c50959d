package prune

import (
	"errors"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

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
