package prune

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/option"
)

// Option configures which weights are pruned, and how.
type Option struct{ setting }

type setting = option.Of[options]

type options struct {
	perLayer           bool
	l2                 bool // compare channels by the sum of squares
	except             []string
	initial            float64
	begin, until, each int
}

func newOptions(given []Option) (*options, error) {
	o := &options{each: 10}
	return o, option.All(o, given)
}

// PerLayer prunes the same fraction of each layer. Without it the weights of all layers are
// compared with each other, and layers with small weights lose more of them.
func PerLayer() Option {
	return Option{option.New("PerLayer()", func(o *options) error { o.perLayer = true; return nil })}
}

// L2 makes [Channels] compare filters by their L2 norm instead of their L1 norm.
func L2() Option {
	return Option{option.New("L2()", func(o *options) error { o.l2 = true; return nil })}
}

// Except excludes layers by name, such as "0" or "blocks.1.up".
func Except(layers ...string) Option {
	return Option{option.Names("Except", layers, func(o *options) *[]string { return &o.except })}
}

// From sets the initial sparsity of [Gradual]; the default is 0.
func From(sparsity float64) Option {
	return Option{option.New(fmt.Sprintf("From(%g)", sparsity), func(o *options) error {
		o.initial = sparsity
		return checkSparsity(sparsity)
	})}
}

// After sets the number of updates after which [Gradual] begins; the default is 0.
func After(updates int) Option {
	return Option{option.Count("prune", "After", updates, 0, func(o *options) *int { return &o.begin })}
}

// Until sets the number of updates after which [Gradual] reaches its final sparsity.
func Until(updates int) Option {
	return Option{option.Count("prune", "Until", updates, 1, func(o *options) *int { return &o.until })}
}

// Every sets the number of updates between selections of [Gradual]; the default is 10.
func Every(updates int) Option {
	return Option{option.Count("prune", "Every", updates, 1, func(o *options) *int { return &o.each })}
}

func checkSparsity(s float64) error {
	if !(s >= 0 && s < 1) {
		return &SparsityError{s}
	}
	return nil
}
