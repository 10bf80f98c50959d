package nn

import (
	"fmt"
	"path"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

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

// GradualUnfreezing trains the last part of a model first, and thaws one more part after every few
// updates (Howard and Ruder, 2018). [UnfreezeGradually] returns it. In accel.Fit:
//
//	thawing, err := nn.UnfreezeGradually(model, 100, "layer3.*", "layer4.*", "fc.*")
//	run, err := accel.Fit(ctx, model, train, accel.AfterStep(thawing.AfterStep))
type GradualUnfreezing struct {
	every int
	parts [][]*Tensor // frozen, from the first to the last to be thawed
}

// UnfreezeGradually freezes all parameters of a model that match none of the patterns, permanently, and
// those that match all but the last pattern until [GradualUnfreezing.AfterStep] thaws them, the part
// of the last pattern but one after the given number of updates, the one before after twice as many,
// and so on. Patterns are those of [path.Match] for names of parameters, where * stands for any
// characters; a parameter belongs to the last pattern that matches. The model must have its
// parameters. A pattern that matches none is an error, and then nothing is frozen.
func UnfreezeGradually(model any, every int, patterns ...string) (*GradualUnfreezing, error) {
	if every < 1 || len(patterns) == 0 {
		return nil, &tensor.StateError{Op: "UnfreezeGradually", Hint: fmt.Sprintf("%d updates and %d patterns must both be at least 1", every, len(patterns))}
	}
	parts := make([][]*Tensor, len(patterns))
	var never []*Tensor
	for _, p := range NamedParameters(model) {
		at := -1
		for i, pattern := range patterns {
			matched, err := path.Match(pattern, p.Name)
			if err != nil {
				return nil, fmt.Errorf("nn: UnfreezeGradually: %q: %w", pattern, err)
			}
			if matched {
				at = i
			}
		}
		if at < 0 {
			never = append(never, p.Tensor)
		} else {
			parts[at] = append(parts[at], p.Tensor)
		}
	}
	for i, part := range parts {
		if len(part) == 0 {
			return nil, &tensor.StateError{Op: "UnfreezeGradually", Hint: fmt.Sprintf("%q matches no parameter that a later pattern does not match: run an input through the model first, and see nn.NamedParameters for the names", patterns[i])}
		}
	}
	u := &GradualUnfreezing{every: every}
	for i := len(parts) - 2; i >= 0; i-- {
		u.parts = append(u.parts, parts[i])
	}
	for _, part := range append(u.parts, never) {
		for _, p := range part {
			p.SetRequiresGrad(false)
		}
	}
	return u, nil
}

// AfterStep thaws what is due after this number of updates. It is meant for the option
// accel.AfterStep.
func (u *GradualUnfreezing) AfterStep(updates int) error {
	for i, part := range u.parts {
		if updates >= (i+1)*u.every {
			for _, p := range part {
				p.SetRequiresGrad(true)
			}
		}
	}
	return nil
}

// String says what is thawed when.
func (u *GradualUnfreezing) String() string {
	return fmt.Sprintf("GradualUnfreezing of %d frozen parts, one every %d updates", len(u.parts), u.every)
}
