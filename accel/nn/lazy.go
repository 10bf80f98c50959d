package nn

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// lazy is a layer that makes its parameters at its first input, and may not
// have them yet.
type lazy interface {
	slots() []slot
	freeze(on bool)
	isFrozen() bool
}

// slot is where a layer keeps one of its tensors.
type slot struct {
	name string
	at   **Tensor
	// shape is what the layer knows of the tensor's: a negative number stands
	// for a size that the input tells, and is the same in all slots of a layer.
	shape    []int
	measured bool // and not trained
}

// untouched is the part of a lazy layer that remembers [Freeze] until there are
// parameters.
type untouched struct{ frozen bool }

func (u *untouched) freeze(on bool) { u.frozen = on }
func (u *untouched) isFrozen() bool { return u.frozen }

// empty reports whether a layer has no parameters yet.
func empty(l lazy) bool {
	s := l.slots()
	return len(s) > 0 && *s[0].at == nil
}

// begin gives a layer tensors of these shapes, whose numbers come later.
func begin(l lazy, shape func(name string) []int) {
	for _, s := range l.slots() {
		*s.at = tensor.Zeros(shape(s.name)...)
		(*s.at).SetRequiresGrad(!s.measured && !l.isFrozen())
	}
}

// suits reports whether tensors of these shapes can be the layer's; shape gives
// nil for a name that is not there.
func suits(l lazy, shape func(name string) []int) error {
	told := map[int]int{}
	for _, s := range l.slots() {
		got := shape(s.name)
		if got == nil {
			continue // which is said elsewhere
		}
		right := len(got) == len(s.shape)
		for i := 0; right && i < len(got); i++ {
			want := s.shape[i]
			if want < 0 {
				if known, ok := told[want]; ok {
					want = known
				} else {
					told[want], want = got[i], got[i]
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

func (n *layerNorm) slots() []slot {
	return []slot{{name: "weight", at: &n.weight, shape: []int{-1}}, {name: "bias", at: &n.bias, shape: []int{-1}}}
}

func (n *rmsNorm) slots() []slot {
	return []slot{{name: "weight", at: &n.weight, shape: []int{-1}}}
}

func (n *batchNorm) slots() []slot {
	return []slot{
		{name: "weight", at: &n.weight, shape: []int{-1}},
		{name: "bias", at: &n.bias, shape: []int{-1}},
		{name: "running_mean", at: &n.runningMean, shape: []int{-1}, measured: true},
		{name: "running_var", at: &n.runningVar, shape: []int{-1}, measured: true},
	}
}

func (e *embedding) slots() []slot {
	return []slot{{name: "weight", at: &e.weight, shape: []int{e.tokens, e.width}}}
}

func (e *posEmbedding) slots() []slot {
	return []slot{{name: "weight", at: &e.weight, shape: []int{e.length, e.width}}}
}

func (a *attention) slots() []slot {
	return []slot{
		{name: "in_proj_weight", at: &a.inProjWeight, shape: []int{-1, -2}},
		{name: "in_proj_bias", at: &a.inProjBias, shape: []int{-1}},
	}
}
