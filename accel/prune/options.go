package prune

import "github.com/quernlab/quern/accel/internal/training/option"

// Option configures which weights are pruned, and how. A function fails for an option that it does not take.
type Option struct{ setting }

type setting = option.Of[options]

type options struct {
	perLayer           bool
	l2                 bool // compare channels by the sum of squares
	except             []string
	initial            float64
	begin, until, each int
}

func newOptions(function string, given []Option, takes ...string) (*options, error) {
	o := &options{each: 10}
	return o, option.Apply("prune."+function, o, given, takes...)
}

// PerLayer prunes the same fraction of each layer. Without it the weights of all layers are
// compared with each other, and layers with small weights lose more of them.
func PerLayer() Option {
	return Option{option.New(func(o *options) { o.perLayer = true }, "PerLayer")}
}

// L2 makes [Channels] compare filters by their L2 norm instead of their L1 norm.
func L2() Option { return Option{option.New(func(o *options) { o.l2 = true }, "L2")} }

// Except excludes layers by name, such as "0" or "blocks.1.up".
func Except(layers ...string) Option {
	return Option{option.New(func(o *options) { o.except = append(o.except, layers...) }, "Except", option.Each(layers)...)}
}

// From sets the initial sparsity of [Gradual]; the default is 0.
func From(sparsity float64) Option {
	return Option{option.New(func(o *options) { o.initial = sparsity }, "From", sparsity).Check(checkSparsity(sparsity))}
}

// After sets the number of updates after which [Gradual] begins; the default is 0.
func After(updates int) Option {
	return Option{option.Count("After", updates, 0, func(o *options) *int { return &o.begin })}
}

// Until sets the number of updates after which [Gradual] reaches its final sparsity.
func Until(updates int) Option {
	return Option{option.Count("Until", updates, 1, func(o *options) *int { return &o.until })}
}

// Every sets the number of updates between selections of [Gradual]; the default is 10.
func Every(updates int) Option {
	return Option{option.Count("Every", updates, 1, func(o *options) *int { return &o.each })}
}

func checkSparsity(s float64) error {
	if !(s >= 0 && s < 1) {
		return &SparsityError{s}
	}
	return nil
}
