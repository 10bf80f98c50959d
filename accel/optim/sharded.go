package optim

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// sharded is a model of whose parameters this process has a part, and other processes the rest, such
// as a parallel.DistributedModel. All of them make each step together. The gradient norm of
// [ClipGradNorm] is that of the whole model. Optimizers that need whole parameters, [LAMB], [Muon],
// [LBFGS] and [Custom], reject it.
type sharded interface {
	// Total returns the sum over all processes, each element counted once, of what this process
	// has computed from its parts: a scalar of each of the parameters. It panics with a
	// *tensor.AllReduceError if a process is missing.
	Total(parameters, parts []*tensor.Tensor) *tensor.Tensor
	// Names returns the names of all tensors of the whole model, as nn.State has them.
	Names() []string
	// HasGradients reports whether the newest backward pass has computed a gradient on any process.
	HasGradients() bool
}

// shardedErr returns an error if the rule needs more than the part of a parameter that this process has, or if the
// optimizer has the layers of a sharded model instead of the model, and would compute other norms on each
// process.
func (o *Optimizer) shardedErr(parameters []*tensor.Tensor) error {
	if !isSharded(o.model) && slices.ContainsFunc(parameters, tensors.IsPart[*tensor.Tensor]) {
		return &tensor.StateError{Op: o.Name(), Hint: "several ranks share the model: make the optimizer with what parallel.Distribute has returned"}
	}
	if isSharded(o.model) && o.rule.whole {
		return &tensor.StateError{Op: o.Name(), Hint: "it needs whole parameters, but each rank has a part of them: use AdamW, Adam, NAdam, SGD, RMSprop, Adagrad or Lion"}
	}
	return nil
}

// namesOfAll returns the names of all tensors of the model, as nn.State has them, also of those that other processes have.
func (o *Optimizer) namesOfAll() (names []string) {
	if s, ok := o.model.(sharded); ok {
		return s.Names()
	}
	for _, p := range nn.State(o.model) {
		names = append(names, p.Name)
	}
	return names
}

// sum returns the sum of a scalar of each gradient, over all processes of a sharded model.
func (o *Optimizer) sum(r *record, parameters, gradients []*tensor.Tensor, of func(g *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	// A process without gradients must not leave out the exchange of a sharded model, in which the others wait for it.
	parts := make([]*tensor.Tensor, len(gradients))
	for i, g := range gradients {
		parts[i] = of(g)
	}
	if s, ok := o.model.(sharded); ok {
		return r.keep(s.Total(parameters, parts))
	}
	total := parts[0]
	for _, p := range parts[1:] {
		total = r.add(total, r.like(p, total))
	}
	return total
}

func isSharded(model any) bool {
	_, ok := model.(sharded)
	return ok
}
