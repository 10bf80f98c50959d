package quantize

import (
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// fold is a normalization that is folded into the weights of a layer.
type fold struct {
	layer.Normalization
	name   string
	module nn.Module
}

// normalizations returns the normalizations of a model by name.
func normalizations(model nn.Module) map[string]*fold {
	found := map[string]*fold{}
	for _, m := range nn.NamedModules(model) {
		if n, ok := layer.Of(m.Module).(layer.Normalization); ok {
			found[m.Name] = &fold{name: m.Name, module: m.Module, Normalization: n}
		}
	}
	return found
}

// findFolds finds the normalizations whose input is the output of one layer that nothing else uses. It
// traces the model with input x, whose ops show whether both have the same channels: those of a linear layer for
// sequences are not the ones of a normalization behind it.
func findFolds(model nn.Module, x *tensor.Tensor, all []*quantizable) {
	norms := normalizations(model)
	if len(norms) == 0 {
		return
	}
	g, err := traceOf(model, x)
	if err != nil {
		return // a model that cannot be traced is not folded
	}
	defer g.Release()
	uses := make([][]tensors.GraphNode, len(g.Values)) // the ops that use each value
	for _, n := range g.Nodes {
		for _, v := range n.In {
			uses[v] = append(uses[v], n)
		}
	}
	// only returns the op that uses parameter t, if there is exactly one and its name is in names.
	only := func(t **tensor.Tensor, input int, names ...string) (tensors.GraphNode, bool) {
		if *t == nil {
			return tensors.GraphNode{}, false
		}
		v := g.Find(*t)
		if v < 0 || len(uses[v]) != 1 || len(uses[v][0].In) <= input || uses[v][0].In[input] != v {
			return tensors.GraphNode{}, false
		}
		return uses[v][0], slices.Contains(names, uses[v][0].Op.Name())
	}
	after := map[int]*fold{} // the normalizations, by input value
	for _, f := range norms {
		if n, ok := only(f.Weight, 2, "BatchNorm"); ok {
			after[n.In[0]] = f
		}
	}
	for _, p := range all {
		n, ok := only(p.Weight, 1, "Conv2D", "Linear")
		if turned, linear := only(p.Weight, 0, "Permute"); linear && len(uses[turned.Out]) == 1 { // without a bias
			n, ok = uses[turned.Out][0], uses[turned.Out][0].Op.Name() == "MatMul"
		}
		if ok && isSingleLayer(p.module) && len(uses[n.Out]) == 1 && !slices.Contains(g.Outputs, n.Out) {
			p.fold = after[n.Out]
		}
	}
}

// traceOf returns the graph of a model with input x in evaluation mode.
func traceOf(model nn.Module, x *tensor.Tensor) (g *tensors.Graph[*tensor.Tensor], err error) {
	defer nn.Catch(&err)
	layer.Substitute(layer.Substitutes{}, func() {
		g = tensors.Trace(func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{model.Forward(in[0])} }, x)
	})
	return g, nil
}

// folded returns the factor and the shift per channel of a normalization in evaluation mode:
// x·factor + shift.
func folded(n layer.Normalization) (factor, shift []float64) {
	weight, bias := (*n.Weight).Float64s(), (*n.Bias).Float64s()
	mean, variance := (*n.Mean).Float64s(), (*n.Variance).Float64s()
	factor, shift = make([]float64, len(weight)), make([]float64, len(weight))
	for c := range weight {
		factor[c] = weight[c] / math.Sqrt(variance[c]+n.Epsilon)
		shift[c] = bias[c] - mean[c]*factor[c]
	}
	return factor, shift
}

var nan = math.NaN()

func roundEven(v float32) float32 { return float32(math.RoundToEven(float64(v))) }
