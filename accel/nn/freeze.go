package nn

import "github.com/quernlab/quern/accel/internal/option"

// Frozen is the set of parameters that a call of [Freeze] has frozen.
type Frozen struct {
	tensors []*Tensor
	lazy    []lazy
	norms   []*batchNorm
}

// FreezeStatistics makes [Freeze] change each [BatchNorm], so that it normalizes with its running means also in training mode, and
// leaves them as they are. A small data set for fine-tuning often cannot estimate better ones.
func FreezeStatistics() Option {
	return Option{option.New(func(o *options) { o.statistics = true }, "FreezeStatistics")}
}

// Freeze excludes the parameters of a model, or of a part of it, from training until [Frozen.Thaw]:
// they get no gradient, optimizers do not update them, and [Parameters] does not return them. Layers
// that have not seen an input yet will start frozen. The running means of BatchNorm are still updated
// in training mode, unless [FreezeStatistics] is given.
func Freeze(model any, given ...Option) *Frozen {
	statistics := options{}.read("Freeze", given, "FreezeStatistics").statistics
	f := &Frozen{}
	walk(model, func(_ []string, v any) {
		if n, ok := v.(*batchNorm); ok && statistics && !n.fixed {
			n.fixed = true
			f.norms = append(f.norms, n)
		}
		switch v := v.(type) {
		case *Tensor:
			if v.RequiresGrad() {
				v.SetRequiresGrad(false)
				f.tensors = append(f.tensors, v)
			}
		case lazy:
			if !v.isFrozen() {
				v.freeze(true)
				f.lazy = append(f.lazy, v)
			}
		}
	})
	return f
}

// Thaw makes what the call of [Freeze] has frozen trainable again.
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
	for _, n := range f.norms {
		n.fixed = false
	}
}
