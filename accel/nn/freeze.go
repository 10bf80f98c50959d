package nn

// Frozen is the parameters that [Freeze] has frozen.
type Frozen struct {
	tensors []*Tensor
	lazy    []freezer
}

// freezer is a layer that may not have its parameters yet.
type freezer interface{ setFrozen(on bool) }

// Freeze takes parameters out of training: they get no gradient, optimisers
// leave them, and [Parameters] does not find them, until Thaw. Layers that have
// not seen an input yet will start frozen.
func Freeze(model any) *Frozen {
	f := &Frozen{}
	walk(model, func(_ []string, v any) {
		switch v := v.(type) {
		case *Tensor:
			if v.RequiresGrad() {
				v.SetRequiresGrad(false)
				f.tensors = append(f.tensors, v)
			}
		case freezer:
			v.setFrozen(true)
			f.lazy = append(f.lazy, v)
		}
	})
	return f
}

// Thaw lets the parameters be trained again.
func (f *Frozen) Thaw() {
	for _, t := range f.tensors {
		t.SetRequiresGrad(true)
	}
	for _, l := range f.lazy {
		l.setFrozen(false)
	}
}

// thaw makes parameters of tensors that a layer made while it was frozen.
func thaw(frozen bool, parameters ...*Tensor) {
	for _, p := range parameters {
		if p != nil && !frozen {
			p.SetRequiresGrad(true)
		}
	}
}

func (l *Linear) setFrozen(on bool) {
	l.frozen = on
	thaw(on, l.Weight, l.Bias)
}
