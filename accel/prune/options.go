package prune

import (
	"fmt"
	"strings"
)

// Option configures which weights are pruned, and how.
type Option struct {
	text string
	set  func(*options) error
}

// String returns the option as a Go expression without the package.
func (o Option) String() string { return o.text }

type options struct {
	perLayer           bool
	l2                 bool // compare channels by the sum of squares
	except             []string
	initial            float64
	begin, until, each int
}

func newOptions(given []Option) (*options, error) {
	o := &options{each: 10}
	for _, option := range given {
		if option.set == nil {
			continue
		}
		if err := option.set(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// PerLayer prunes the same fraction of each layer. Without it the weights of all layers are
// compared with each other, and layers with small weights lose more of them.
func PerLayer() Option {
	return Option{"PerLayer()", func(o *options) error { o.perLayer = true; return nil }}
}

// L2 makes [Channels] compare filters by their L2 norm instead of their L1 norm.
func L2() Option {
	return Option{"L2()", func(o *options) error { o.l2 = true; return nil }}
}

// Except excludes layers by name, such as "0" or "blocks.1.up".
func Except(layers ...string) Option {
	quoted := make([]string, len(layers))
	for i, l := range layers {
		quoted[i] = fmt.Sprintf("%q", l)
	}
	return Option{"Except(" + strings.Join(quoted, ", ") + ")", func(o *options) error {
		o.except = append(o.except, layers...)
		return nil
	}}
}

// From sets the initial sparsity of [Gradual]; the default is 0.
func From(sparsity float64) Option {
	return Option{fmt.Sprintf("From(%g)", sparsity), func(o *options) error {
		o.initial = sparsity
		return checkSparsity(sparsity)
	}}
}

// After sets the number of updates after which [Gradual] begins; the default is 0.
func After(updates int) Option {
	return Option{fmt.Sprintf("After(%d)", updates), func(o *options) error {
		if o.begin = updates; updates < 0 {
			return fmt.Errorf("prune: After(%d): the number of updates must be at least 0", updates)
		}
		return nil
	}}
}

// Until sets the number of updates after which [Gradual] reaches its final sparsity.
func Until(updates int) Option {
	return Option{fmt.Sprintf("Until(%d)", updates), func(o *options) error {
		if o.until = updates; updates < 1 {
			return fmt.Errorf("prune: Until(%d): the number of updates must be at least 1", updates)
		}
		return nil
	}}
}

// Every sets the number of updates between selections of [Gradual]; the default is 10.
func Every(updates int) Option {
	return Option{fmt.Sprintf("Every(%d)", updates), func(o *options) error {
		if o.each = updates; updates < 1 {
			return fmt.Errorf("prune: Every(%d): the number of updates must be at least 1", updates)
		}
		return nil
	}}
}

func checkSparsity(s float64) error {
	if !(s >= 0 && s < 1) {
		return &SparsityError{s}
	}
	return nil
}
