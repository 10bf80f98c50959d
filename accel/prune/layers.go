package prune

import (
	"errors"
	"slices"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// product is a layer with a weight that can be pruned.
type product struct {
	layer.Product
	name   string
	module nn.Module
}

// products are the layers of a model that multiply, each weight once.
func products(model nn.Module) []*product {
	var found []*product
	known := map[*tensor.Tensor]bool{}
	for _, m := range nn.NamedModules(model) {
		p, ok := layer.Of(m.Module).(layer.Product)
		if !ok || *p.Weight != nil && known[*p.Weight] {
			continue
		}
		known[*p.Weight] = true
		found = append(found, &product{p, m.Name, m.Module})
	}
	return found
}

// chosen are the layers of a model to be pruned: they must have their weights.
func chosen(model nn.Module, except []string) ([]*product, error) {
	if model == nil {
		return nil, errors.New("prune: there is no model")
	}
	all := products(model)
	for _, name := range except {
		at := slices.IndexFunc(all, func(p *product) bool { return p.name == name })
		if at < 0 {
			return nil, &UnknownLayerError{name, names(all)}
		}
		all = slices.Delete(all, at, at+1)
	}
	if len(all) == 0 {
		return nil, errors.New("prune: the model has no layer that can be pruned")
	}
	for _, p := range all {
		if *p.Weight == nil {
			return nil, &LayerError{p.name, errors.New("it has no weight yet: call the model once")}
		}
	}
	return all, nil
}

func names(all []*product) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.name)
	}
	return list
}

// weights are the numbers of a layer's weight, which must be finite.
func (p *product) weights() ([]float32, error) {
	w := (*p.Weight).Data()
	for i, v := range w {
		if v-v != 0 {
			return nil, &LayerError{p.name, &tensor.NonFiniteError{What: p.Names[0], Element: i, Value: float64(v)}}
		}
	}
	return w, nil
}
