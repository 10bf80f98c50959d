package nn

// Frozen is the set of parameters that a call of [Freeze] has frozen.
type Frozen struct {
	tensors []*Tensor
	lazy    []lazy
}

// Freeze excludes the parameters of a model from training until [Frozen.Thaw]: they get no
// gradient, optimizers do not update them, and [Parameters] does not return them. Layers that
// have not seen an input yet will start frozen. The running means of BatchNorm are still
// updated in training mode.
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

// Thaw makes the parameters trainable again.
func (f *Frozen) Thaw() {
	for _, t := range f.tensors {
		t.SetRequiresGrad(true)
	}
	for _, l := range f.lazy {
		l.freeze(false)
		for _, s := range l.slots() {
			if *s.at != nil && !s.buffer {
				(*s.at).SetRequiresGrad(true)
			}
		}
	}
}
