package accel

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/training/loop"
)

// Option changes how [Fit] trains or how [Evaluate] measures; each rejects the options that are
// only for the other. An option prints as Go code, which is how a run lists its options.
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
func fitOption(text string, set func(*loop.Settings) error) Option {
	return Option{text: text, scope: inFit, shared: text, set: set}
}

// plain returns an option whose arguments need no check.
func plain(text string, set func(*loop.Settings)) Option {
	return fitOption(text, func(c *loop.Settings) error { set(c); return nil })
}

// count returns an option that sets a positive integer.
func count(name string, n int, field func(*loop.Settings) *int) Option {
	text := fmt.Sprintf("%s(%d)", name, n)
	return fitOption(text, func(c *loop.Settings) error {
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

// apply applies options to the settings. It fails for an option of another function.
func apply(c *loop.Settings, s scope, given []Option) (err error) {
	for _, o := range given {
		var failed error
		switch {
		case o.set == nil: // the zero Option
			continue
		case o.scope&s == 0:
			failed = fmt.Errorf("accel: %v: %v is an option of %v%s", s, o, o.scope, accepted[s])
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
var accepted = map[scope]string{inEvaluate: "; Evaluate takes DataParallel, Minimize, Metrics and DerivedFrom"}

// evaluateOptions returns the settings of Evaluate.
func evaluateOptions(given []Option) (*loop.Settings, error) {
	c := &loop.Settings{}
	return c, apply(c, inEvaluate, given)
}
