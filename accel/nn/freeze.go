package nn

// Frozen is the parameters that [Freeze] has frozen.
type Frozen struct {
	tensors []*Tensor
	lazy    []lazy
}

// Freeze takes parameters out of training: they get no gradient, optimisers
// leave them, and [Parameters] does not find them, until Thaw. Layers that have
// not seen an input yet will start frozen. BatchNorm goes on measuring means
// while the model is in training mode.
func Freeze(model any) *Frozen {
	f := &Frozen{}
	walk(model, func(_ []string, v any) {
		switch v := v.(type) {
		case *Tensor:
			if v.RequiresGrad() {
				v.SetRequiresGrad(false)
				f.tensors = append(f.tensors, v)
			}
		case lazy:
			v.freeze(true)
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
		l.freeze(false)
		for _, s := range l.slots() {
			if *s.at != nil && !s.measured {
				(*s.at).SetRequiresGrad(true)
			}
		}
	}
}
