package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
)

// Option changes how [Fit] trains or how [Evaluate] measures; each rejects the options that are
// only for the other. An option prints as Go code, which is how a run lists its options.
type Option struct {
	text    string // as Go code; empty for options that the user did not give
	scope   scope
	shared  string // compared between ranks, which must agree on it; empty for no comparison
	outputs bool   // it only shows the run or saves it
	set     func(*options) error
}

// String returns the option as Go code, without the package name.
func (o Option) String() string { return o.text }

// scope is a set of the functions that accept an option.
type scope uint8

const (
	inFit scope = 1 << iota
	inEvaluate
	inCheck
)

func (s scope) String() string {
	switch s {
	case inFit:
		return "Fit"
	case inEvaluate:
		return "Evaluate"
	case inCheck, inFit | inCheck:
		return "Check"
	}
	return "Fit and Evaluate"
}

// fitOption returns an option of Fit that must be equal on all ranks.
func fitOption(text string, set func(*options) error) Option {
	return Option{text: text, scope: inFit, shared: text, set: set}
}

// plain returns an option whose arguments need no check.
func plain(text string, set func(*options)) Option {
	return fitOption(text, func(c *options) error { set(c); return nil })
}

// count returns an option that sets a positive integer.
func count(name string, n int, field func(*options) *int) Option {
	text := fmt.Sprintf("%s(%d)", name, n)
	return fitOption(text, func(c *options) error {
		if n < 1 {
			return fmt.Errorf("accel: %s: the number must be at least 1", text)
		}
		*field(c) = n
		return nil
	})
}

// in returns the option with another scope.
func (o Option) in(s scope) Option {
	o.scope = s
	return o
}

// sharedAs returns the option with another text for the comparison between ranks.
func (o Option) sharedAs(text string) Option {
	o.shared = text
	return o
}

// perRank returns the option for ranks that need not agree on it.
func (o Option) perRank() Option { return o.sharedAs("") }

// output marks the option as one that only shows the run or saves it. Only rank 0 does so,
// whatever options the other ranks have.
func (o Option) output() Option {
	o.outputs = true
	return o.perRank()
}

// apply applies options to c. It fails for an option of another function.
func (c *options) apply(s scope, given []Option) error {
	for _, o := range given {
		if o.set == nil {
			continue // the zero Option
		}
		if o.scope&s == 0 {
			return fmt.Errorf("accel: %v: %v is an option of %v%s", s, o, o.scope, accepted[s])
		}
		if err := o.set(c); err != nil {
			return err
		}
		c.given = append(c.given, o)
	}
	return nil
}

// accepted lists the options of functions that accept few.
var accepted = map[scope]string{inEvaluate: "; Evaluate takes DataParallel, Minimize, Metrics and DerivedFrom"}

// evaluateOptions returns the settings of Evaluate.
func evaluateOptions(given []Option) (*options, error) {
	c := &options{}
	return c, c.apply(inEvaluate, given)
}

// texts returns the options as Go code.
func (c *options) texts() []string {
	return c.list(func(o Option) string { return o.text })
}

// outputs returns the options that only show the run or save it.
func (c *options) outputs() []string {
	return c.list(func(o Option) string {
		if o.outputs {
			return o.text
		}
		return ""
	})
}

// shared returns the texts that all ranks must agree on.
func (c *options) shared() []string {
	return c.list(func(o Option) string { return o.shared })
}

// list returns the non-empty texts of the options.
func (c *options) list(text func(Option) string) (all []string) {
	for _, o := range c.given {
		if t := text(o); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// options are the settings that options have made. The zero value of a field stands for its
// default.
type options struct {
	epochs          int // 5, unless steps are given
	steps           int
	batchSize       int // 64
	dropLast        bool
	weights         []float64           // of the examples; nil without WeightedRandomSampler
	byLength        bool                // GroupByLength
	balanced        bool                // ClassBalancedSampler, which sets weights
	hardness        func(i int) float64 // of HardExampleSampler, which sets weights at the start of each epoch
	uniform         float64             // share of its draws that are uniform
	samplerName     string              // of the sampler and its weights; "" without one
	workers         int
	loss            func(prediction, target *Tensor) *Tensor
	optimizer       newOptimizer
	schedule        func(total int) optim.Schedule
	needsValidation bool           // the schedule depends on the validation loss
	hyperparameters []optim.Option // hyperparameters of the optimizer
	accumulate      int            // 1
	metrics         []metrics.Metric
	validate        *data.Dataset
	evalEvery       int // in steps; 0 for after every epoch
	patience        int
	criterion       criterion        // of the best validation
	bestBy          *metrics.Metric  // the metric of the criterion; nil for the loss
	saveBest        string           // path of the file of SaveBest; "" for none
	live            []history.Metric // nil for none
	quiet           bool
	energy          bool               // measure or estimate it
	watts           float64            // assumed; 0 for none
	observers       []history.Observer // of the user, and of functions that call Fit
	checkpoint      string             // path of the file of Resume; "" for none
	saveEvery       int                // in steps; 0 for after every epoch only

	derivedFrom nn.Module // the model from which the evaluated one was made; nil for none

	optimizerText, scheduleText string // as Go code; "" for none

	group              *parallel.Group // nil for one process
	device             string          // "" for the current device
	tensorBoard        string          // folder; "" for none
	track              string          // folder; "" for none
	label              string          // name of the run in Track's folder
	absoluteRates      bool            // the schedule returns learning rates, not factors
	afterStep          []func(updates int) error
	average            *optim.EMA              // nil for none
	validateParameters bool                    // instead of average
	stop               func(*history.Run) bool // called after each step and validation; nil for never
	mixer              mixer
	recompute          bool // recompute activations in the backward pass
	amp                bool
	overfit            bool      // OverfitBatch
	unexamined         bool      // leave out the notes on typical mistakes
	measured           bool      // with Metrics, which Check removes
	precision          Precision // 0 for the device's default
	given              []Option  // in the order in which they were given
}

// newOptimizer creates an optimizer once the model and the hyperparameters of other options are
// known.
type newOptimizer func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer
