package accel

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/loop"
)

// Option changes how [Fit] trains, [Evaluate] measures, [Predict] and [PredictDataset] compute, and
// [Generate] samples; each rejects the options that are only for others. An option prints as Go code,
// which is how a run lists its options.
type Option struct {
	text    string // as Go code; empty for options that the user did not give
	scope   scope
	shared  string // compared between ranks, which must agree on it; empty for no comparison
	outputs bool   // it only shows the run or saves it
	set     func(*loop.Settings) error
}

// String returns the option as Go code, without the package name.
func (o Option) String() string { return o.text }

// scope is a set of the functions that accept an option.
type scope uint8

const (
	inFit scope = 1 << iota
	inCheck
	inEvaluate
	inPredict
	inPredictDataset
	inGenerate
)

// functions are the functions of the scopes, from the lowest bit to the highest.
var functions = []string{"Fit", "Check", "Evaluate", "Predict", "PredictDataset", "Generate"}

func (s scope) String() string {
	text := ""
	for i := len(functions) - 1; i >= 0; i-- {
		if s&(1<<i) == 0 {
			continue
		}
		switch {
		case text == "":
			text = functions[i]
		case strings.Contains(text, " and "):
			text = functions[i] + ", " + text
		default:
			text = functions[i] + " and " + text
		}
	}
	return text
}

// fitOption returns an option of Fit that must be equal on all ranks.
func fitOption(text string, set func(*loop.Settings) error) Option {
	return Option{text: text, scope: inFit, shared: text, set: set}
}

// plain returns an option that does not depend on the options before it.
func plain(text string, set func(*loop.Settings)) Option {
	return fitOption(text, func(c *loop.Settings) error { set(c); return nil })
}

// count returns an option that sets a positive integer.
func count(name string, n int, field func(*loop.Settings) *int) Option {
	return plain(fmt.Sprintf("%s(%d)", name, n), func(c *loop.Settings) { *field(c) = n }).require(n >= 1, "the number must be at least 1")
}

// require returns the option with an error unless its arguments are valid. Of several errors, the last counts.
func (o Option) require(valid bool, why string) Option {
	if !valid {
		text := o.text
		o.set = func(*loop.Settings) error { return fmt.Errorf("accel: %s: %s", text, why) }
	}
	return o
}

// requireArgument is require for an option whose argument must not be nil.
func (o Option) requireArgument(given bool, why string) Option {
	if !given {
		name, _, _ := strings.Cut(o.text, "(")
		o.text = name + "(nil)"
	}
	return o.require(given, why)
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

// hidden returns the option as one that the user did not give, and that is not listed in Run.Options.
func (o Option) hidden() Option {
	o.text = ""
	return o.perRank()
}

// output marks the option as one that only shows the run or saves it. Only rank 0 does so,
// whatever options the other ranks have.
func (o Option) output() Option {
	o.outputs = true
	return o.perRank()
}

// apply applies options to the settings of a function. It fails for an option of other functions. Check takes those of Fit, too.
func apply(c *loop.Settings, function scope, given []Option) (err error) {
	takes := function
	if function == inCheck {
		takes |= inFit
	}
	for _, o := range given {
		var failed error
		switch {
		case o.set == nil: // the zero Option
			continue
		case o.scope&takes == 0:
			failed = fmt.Errorf("accel: %v: %v is an option of %v%s", function, o, o.scope, accepted[function])
		default:
			failed = o.set(c)
		}
		if err == nil { // after an error, an option may name the group, whose other ranks wait for this one
			err = failed
		}
		c.Given = append(c.Given, loop.Given{Text: o.text, Shared: o.shared, Output: o.outputs})
	}
	return err
}

// accepted lists the options of functions that accept few.
var accepted = map[scope]string{
	inEvaluate:       "; Evaluate takes DataParallel, Minimize, Metrics and DerivedFrom",
	inPredict:        "; Predict takes BatchSize and Progress",
	inPredictDataset: "; PredictDataset takes BatchSize, DataParallel and Progress",
	inGenerate:       "; Generate takes Temperature and TopK",
}
