package prune

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/option"
)

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

// SparsityError is returned for a sparsity outside [0, 1).
type SparsityError struct {
	Sparsity float64 // as requested
}

// Error names the valid range.
func (e *SparsityError) Error() string {
	return fmt.Sprintf("prune: sparsity %v is out of range: it must be at least 0 and less than 1", e.Sparsity)
}

// EmptyLayerError is returned if a layer would lose all its weights.
type EmptyLayerError struct {
	Name     string  // of the layer in the model
	Sparsity float64 // as requested
}

// Error says what to do.
func (e *EmptyLayerError) Error() string {
	return fmt.Sprintf("prune: at sparsity %v layer %s would lose all its weights: prune less, or exclude the layer with Except", e.Sparsity, e.Name)
}

// UnknownLayerError is returned if an option names a layer that the model does not have.
type UnknownLayerError struct {
	Name  string   // as given
	Known []string // prunable layers
}

// Error lists the existing layers.
func (e *UnknownLayerError) Error() string {
	return fmt.Sprintf("prune: there is no prunable layer %q; the layers are %q", e.Name, e.Known)
}

// LayerError says why a layer cannot be pruned.
type LayerError struct {
	Name string // of the layer in the model
	Err  error  // the reason
}

// Error names the layer.
func (e *LayerError) Error() string { return fmt.Sprintf("prune: layer %s: %v", e.Name, e.Err) }

// Unwrap returns the reason.
func (e *LayerError) Unwrap() error { return e.Err }
