package optim

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// group are options for some of the parameters.
type group struct {
	text    string
	matches func(name string) bool
	options []Option
}

// Group gives the parameters with matching names options of their own, as PyTorch's parameter
// groups do. The pattern is that of [path.Match], in which * stands for any characters, also dots:
//
//	optim.AdamW(model, 1e-3, optim.Group("*.bias", optim.WeightDecay(0)))
//
// Where several groups match, later ones override earlier ones. [ClipGradNorm], [ClipGradValue]
// and [RecordGradNorm] have no effect in a group. Step panics with a *tensor.StateError if the pattern is malformed or matches no tensor of
// the model.
func Group(pattern string, options ...Option) Option {
	_, err := path.Match(pattern, "")
	g := group{text: fmt.Sprintf("Group(%q%s)", pattern, list(options)), options: options}
	g.matches = func(name string) bool {
		if err != nil {
			panic(&tensor.StateError{Op: g.text, Hint: "the pattern is malformed"})
		}
		matched, _ := path.Match(pattern, name)
		return matched
	}
	return g.option()
}

// GroupFunc is [Group] for the parameters for whose names a function returns true.
func GroupFunc(matches func(name string) bool, options ...Option) Option {
	return group{"GroupFunc(matches" + list(options) + ")", matches, options}.option()
}

// LayerwiseDecay lowers the learning rate from the last layers to the first, which usually need the
// smallest changes when a pretrained model is fine-tuned (Howard and Ruder, 2018). patterns are those
// of [Group], from the input to the output: the learning rate of the last one is multiplied by 1, of
// the one before by factor, then factor², and so on.
func LayerwiseDecay(factor float64, patterns ...string) Option {
	groups := make([]Option, len(patterns))
	for i, pattern := range patterns {
		groups[i] = Group(pattern, RateFactor(math.Pow(factor, float64(len(patterns)-1-i))))
	}
	text := fmt.Sprintf("LayerwiseDecay(%g, %q)", factor, patterns)
	return Option{text, func(o *options) {
		for _, g := range groups {
			g.set(o)
		}
	}}
}

// RateFactor multiplies the learning rate. It is meant for a [Group].
func RateFactor(factor float64) Option {
	return Option{fmt.Sprintf("RateFactor(%g)", factor), func(o *options) { o.rateFactor = factor }}.
		checked(notNegative(factor), "the factor must be finite and not negative")
}

func (g group) option() Option {
	return Option{g.text, func(o *options) { o.groups = append(slices.Clone(o.groups), g) }}
}

// list returns options as further arguments of a call in Go code.
func list(options []Option) string {
	var b strings.Builder
	for _, o := range options {
		b.WriteString(", " + o.text)
	}
	return b.String()
}

// optionsOf returns the options of a parameter with its groups.
func (o *Optimizer) optionsOf(p *tensor.Tensor) options {
	if len(o.o.groups) == 0 {
		return o.o
	}
	if own, ok := o.grouped[p]; ok {
		return own
	}
	o.grouped = map[*tensor.Tensor]options{}
	used := make([]bool, len(o.o.groups))
	for _, p := range nn.State(o.model) {
		own := o.o
		for i, g := range o.o.groups {
			if !g.matches(p.Name) {
				continue
			}
			used[i] = true
			for _, option := range g.options {
				if option.set != nil {
					option.set(&own)
				}
			}
		}
		if own.invalid != "" {
			o.grouped = nil
			panic(&tensor.StateError{Op: o.Name(), Hint: own.invalid})
		}
		o.grouped[p.Tensor] = own
	}
	for i, g := range o.o.groups {
		if !used[i] {
			panic(&tensor.StateError{Op: o.Name(), Hint: g.text + " matches no parameter of the model: nn.NamedParameters lists their names"})
		}
	}
	return o.grouped[p]
}
