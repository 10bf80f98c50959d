package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// lazy is a layer that creates its parameters at its first input.
type lazy interface {
	slots() []slot
	freeze(on bool)
	isFrozen() bool
}

// slot describes one of the tensors of a layer.
type slot struct {
	name string
	at   **Tensor
	// shape is the shape as far as the layer knows it. A negative number stands for a size that
	// the input determines; the same negative number is the same size in all slots of a layer.
	shape  []int
	buffer bool // not trained, such as a running mean
	listed bool // in a slotTensors, not in a field with this name
}

// slotTensors are tensors whose number depends on the layer's options. Their names are those of the
// layer's slots.
type slotTensors []*Tensor

// lazyState is embedded by lazy layers. It records [Freeze] until there are parameters.
type lazyState struct{ frozen bool }

func (u *lazyState) freeze(on bool) { u.frozen = on }
func (u *lazyState) isFrozen() bool { return u.frozen }

// retainsNothing says that no layer with parameters keeps a reference to its input or output.
func (*lazyState) retainsNothing() bool { return true }

// parameter makes a tensor that the layer creates a parameter, unless the layer is frozen.
func (u *lazyState) parameter(t *Tensor) *Tensor {
	t.SetRequiresGrad(!u.frozen)
	return t
}

// hasNoParameters reports whether a layer has not created its parameters yet.
func hasNoParameters(l lazy) bool {
	s := l.slots()
	return len(s) > 0 && *s[0].at == nil
}

// UnusedLayers returns the names of the layers of a model that have not created their parameters, because they
// have not seen an input.
func UnusedLayers(model any) (names []string) {
	walk(model, func(path []string, v any) {
		if l, ok := v.(lazy); ok && hasNoParameters(l) && !l.isFrozen() {
			names = append(names, strings.Join(path, "."))
		}
	})
	return names
}

// allocate creates tensors of these shapes for a layer, whose values are set later.
func allocate(l lazy, shape func(name string) []int) {
	for _, s := range l.slots() {
		*s.at = tensor.Zeros(shape(s.name)...)
		(*s.at).SetRequiresGrad(!s.buffer && !l.isFrozen())
	}
}

// checkShapes returns an error unless tensors of these shapes can be those of the layer. shape
// returns nil for a name that is missing.
func checkShapes(l lazy, shape func(name string) []int) error {
	inferred := map[int]int{}
	for _, s := range l.slots() {
		got := shape(s.name)
		if got == nil {
			continue // fits reports it as missing
		}
		right := len(got) == len(s.shape)
		for i := 0; right && i < len(got); i++ {
			want := s.shape[i]
			if want < 0 {
				if known, ok := inferred[want]; ok {
					want = known
				} else {
					inferred[want], want = got[i], got[i]
				}
			}
			right = got[i] == want
		}
		if !right {
			return fmt.Errorf("%v cannot have a %s of shape %v", l, s.name, slices.Clone(got))
		}
	}
	return nil
}

func (l *DenseLayer) slots() []slot {
	out := l.out
	if out == 0 {
		out = -1
	}
	s := []slot{{name: "weight", at: &l.Weight, shape: []int{out, -2}}}
	if !l.noBias {
		s = append(s, slot{name: "bias", at: &l.Bias, shape: []int{out}})
	}
	return s
}

func (c *Conv2DLayer) slots() []slot {
	s := []slot{{name: "weight", at: &c.Weight, shape: []int{c.out, -1, c.kernel, c.kernel}}}
	if !c.noBias {
		s = append(s, slot{name: "bias", at: &c.Bias, shape: []int{c.out}})
	}
	return s
}

func (n *rowNorm) slots() []slot {
	s := affine(&n.weight, &n.bias)
	if n.name == "RMSNorm" {
		return s[:1]
	}
	return s
}

func (n *groupNorm) slots() []slot { return affine(&n.weight, &n.bias) }

// affine returns the weight and the bias of a normalization, of the same size.
func affine(weight, bias **Tensor) []slot {
	return []slot{{name: "weight", at: weight, shape: []int{-1}}, {name: "bias", at: bias, shape: []int{-1}}}
}

func (n *batchNorm) slots() []slot {
	return append(affine(&n.weight, &n.bias),
		slot{name: "running_mean", at: &n.runningMean, shape: []int{-1}, buffer: true},
		slot{name: "running_var", at: &n.runningVar, shape: []int{-1}, buffer: true})
}

func (e *embedding) slots() []slot {
	return []slot{{name: "weight", at: &e.weight, shape: []int{e.tokens, e.width}}}
}

func (e *posEmbedding) slots() []slot {
	return []slot{{name: "weight", at: &e.weight, shape: []int{e.length, e.width}}}
}

func (a *MultiHeadAttentionLayer) slots() []slot {
	return []slot{
		{name: "in_proj_weight", at: &a.inProjWeight, shape: []int{-1, -2}},
		{name: "in_proj_bias", at: &a.inProjBias, shape: []int{-1}},
	}
}
