package optim

import (
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// group are options for some of the parameters.
type group struct {
	text      string
	malformed bool // the pattern
	matches   func(name string) bool
	options   []Option
}

// Group gives the parameters with matching names options of their own, as PyTorch's parameter
// groups do. The pattern is that of [path.Match], in which * stands for any characters, also dots:
//
//	optim.AdamW(model, 1e-3, optim.Group("*.bias", optim.WeightDecay(0)))
//
// Where several groups match, later ones override earlier ones. Step panics with a *tensor.StateError for
// options of all parameters together, such as [ClipGradNorm], and if the pattern is malformed or matches no
// tensor of the model. The tensors of a parallel.DistributedModel are those of all ranks.
func Group(pattern string, options ...Option) Option {
	return newGroup(pattern, options).option("Group", pattern)
}

func newGroup(pattern string, given []Option) group {
	_, err := path.Match(pattern, "")
	g := group{text: option.New[options](nil, "Group", append([]any{pattern}, option.Each(given)...)...).String(), malformed: err != nil, options: given}
	g.matches = func(name string) bool {
		matched, _ := path.Match(pattern, name)
		return matched
	}
	return g
}

// GroupFunc is [Group] for the parameters for whose names a function returns true.
func GroupFunc(matches func(name string) bool, options ...Option) Option {
	return group{matches: matches, options: options}.option("GroupFunc", option.Code("matches"))
}

// option returns the option that adds the group, with the first argument of its call.
func (g group) option(function string, first any) Option {
	arguments := append([]any{first}, option.Each(g.options)...)
	g.text = option.New[options](nil, function, arguments...).String()
	return Option{option.New(func(o *options) { o.groups = append(slices.Clone(o.groups), g) }, function, arguments...)}
}

// LayerwiseDecay lowers the learning rate from the last layers to the first, which usually need the
// smallest changes when a pretrained model is fine-tuned (Howard and Ruder, 2018). patterns are those
// of [Group], from the input to the output: the learning rate of the last one is multiplied by 1, of
// the one before by factor, then factor², and so on.
func LayerwiseDecay(factor float64, patterns ...string) Option {
	groups := make([]group, len(patterns))
	for i, pattern := range patterns {
		groups[i] = newGroup(pattern, []Option{RateFactor(math.Pow(factor, float64(len(patterns)-1-i)))})
	}
	return Option{option.New(func(o *options) {
		for _, g := range groups {
			o.groups = append(o.groups[:len(o.groups):len(o.groups)], g)
		}
	}, "LayerwiseDecay", factor, option.Code(fmt.Sprintf("%q", patterns)))}
}

// RateFactor multiplies the learning rate. It is meant for a [Group].
func RateFactor(factor float64) Option {
	return number("RateFactor", "the factor", factor, func(o *options) *float64 { return &o.rateFactor })
}

// optionsOf returns the options of a parameter with its groups.
func (o *Optimizer) optionsOf(p *tensor.Tensor) options {
	if len(o.o.groups) == 0 {
		return o.o
	}
	if own, ok := o.grouped[p]; ok {
		return own
	}
	if err := o.group(); err != nil {
		panic(err)
	}
	return o.grouped[p]
}

// group finds the options of each parameter. It fails, before anything has changed, if a group has none: in a sharded model, if no process
// has one.
func (o *Optimizer) group() error {
	names := o.namesOfAll()
	for _, g := range o.o.groups {
		switch {
		case g.malformed:
			return &tensor.StateError{Op: g.text, Hint: "the pattern is malformed"}
		case !slices.ContainsFunc(names, g.matches):
			return &tensor.StateError{Op: o.Name(), Hint: g.text + " matches no parameter of the model: nn.NamedParameters lists their names"}
		}
	}
	o.grouped = map[*tensor.Tensor]options{}
	for _, p := range nn.State(o.model) {
		own := o.o
		for _, g := range o.o.groups {
			if g.matches(p.Name) {
				option.Reason(&own, g.options, o.takes...) // none: newOptimizer has checked them
			}
		}
		o.grouped[p.Tensor] = own
	}
	return nil
}
