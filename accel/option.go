package accel

import "fmt"

// Option changes how [Fit] trains or [Evaluate] measures; each of the two rejects
// options that are only for the other. An option prints as it is written in Go,
// which is how a run shows its options.
type Option struct {
	text    string // as it is written in Go; empty for one that is not the user's
	scope   scope
	shared  string // what must be equal on all ranks; empty if nothing has to be
	outputs bool   // it only shows the run, or keeps it in files
	set     func(*options) error
}

// String returns the option as it is written in Go, without the package.
func (o Option) String() string { return o.text }

// scope is a set of the functions that accept an option.
type scope uint8

const (
	inFit scope = 1 << iota
	inEvaluate
)

func (s scope) String() string {
	switch s {
	case inFit:
		return "Fit"
	case inEvaluate:
		return "Evaluate"
	}
	return "Fit and Evaluate"
}

// fitOption returns an option of Fit that must be equal on all ranks.
func fitOption(text string, set func(*options) error) Option {
	return Option{text: text, scope: inFit, shared: text, set: set}
}

// plain returns an option that cannot be wrong.
func plain(text string, set func(*options)) Option {
	return fitOption(text, func(c *options) error { set(c); return nil })
}

// count returns an option that sets a number of at least 1.
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

// sharedAs returns the option for ranks that need not agree on its argument.
func (o Option) sharedAs(text string) Option {
	o.shared = text
	return o
}

// perRank returns the option for ranks that need not agree on it.
func (o Option) perRank() Option { return o.sharedAs("") }

// output returns the option as one that only shows the run or keeps it in files. Rank
// 0 does so, whatever the other ranks were given.
func (o Option) output() Option {
	o.outputs = true
	return o.perRank()
}

// apply sets what the options set. It fails with an option of another function.
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

// accepted says what a function accepts that accepts little.
var accepted = map[scope]string{inEvaluate: "; Evaluate takes DataParallel, Minimize and DerivedFrom"}

// evaluateOptions returns what the options of Evaluate set.
func evaluateOptions(given []Option) (*options, error) {
	c := &options{}
	return c, c.apply(inEvaluate, given)
}

// texts returns the options as they are written in Go.
func (c *options) texts() []string {
	return c.list(func(o Option) string { return o.text })
}

// outputs returns those that only show the run or keep it in files.
func (c *options) outputs() []string {
	return c.list(func(o Option) string {
		if o.outputs {
			return o.text
		}
		return ""
	})
}

// shared returns what must be equal on all ranks.
func (c *options) shared() []string {
	return c.list(func(o Option) string { return o.shared })
}

// list returns a text of each option that has one.
func (c *options) list(text func(Option) string) (all []string) {
	for _, o := range c.given {
		if t := text(o); t != "" {
			all = append(all, t)
		}
	}
	return all
}
