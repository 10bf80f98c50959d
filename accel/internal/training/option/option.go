// Package option is how functions of accel and its packages take options. An option changes a struct
// of settings, prints as the Go expression that makes it, and knows its name, by which a function
// says which options it takes. A package has one exported type Option for all of its functions:
//
//	// Option changes what Search and Compare do.
//	type Option struct{ setting }
//
//	type setting = option.Of[settings]
//
//	// Trials sets the number of trials.
//	func Trials(n int) Option {
//		return Option{option.New(func(s *settings) { s.trials = n }, "Trials", n).Require(n > 0, "the number must be at least 1")}
//	}
//
//	func Search(options ...Option) error {
//		s := settings{trials: 30}
//		if err := option.Apply("tune.Search", &s, options, "Trials", "Seed"); err != nil {
//			return err // tune: Search does not take Seeds(3): its options are Trials and Seed
//		}
//		…
//	}
package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Of is an option for settings of type T. A package embeds it in its type Option. The zero value
// changes nothing.
type Of[T any] struct {
	name, text string
	set        func(*T)
	err        error // of the arguments
}

// Code is an argument that prints as it is, such as a variable in the Go expression of an option.
type Code string

// New returns an option that changes settings by set. It prints as the call of a function with these
// arguments: strings are quoted, and others have their default format.
func New[T any](set func(*T), name string, arguments ...any) Of[T] {
	return Of[T]{name: name, text: Text(name, arguments...), set: set}
}

// Text returns the call of a function with arguments, which print as in [New].
func Text(name string, arguments ...any) string {
	texts := make([]string, len(arguments))
	for i, a := range arguments {
		if s, ok := a.(string); ok {
			a = Code(fmt.Sprintf("%q", s))
		}
		texts[i] = fmt.Sprint(a)
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

// Variable returns an option that is the value of an exported variable.
func Variable[T any](set func(*T), name string) Of[T] { return Of[T]{name: name, text: name, set: set} }

// Count returns an option that sets an integer, which must be at least least.
func Count[T any](name string, n, least int, field func(*T) *int) Of[T] {
	return New(func(settings *T) { *field(settings) = n }, name, n).
		Require(n >= least, fmt.Sprintf("the number must be at least %d", least))
}

// Each returns the elements of a list as arguments of [New].
func Each[T any](list []T) []any {
	arguments := make([]any, len(list))
	for i, a := range list {
		arguments[i] = a
	}
	return arguments
}

// Require makes [Apply] fail unless the arguments of the option are valid. The error names the option
// and says why.
func (o Of[T]) Require(valid bool, why string) Of[T] {
	if !valid {
		return o.Check(errors.New(why))
	}
	return o
}

// Check makes [Apply] fail with an error of the arguments. nil stands for none.
func (o Of[T]) Check(err error) Of[T] {
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("%s: %w", o.text, err)
	}
	return o
}

// String returns the option as a Go expression without the package.
func (o Of[T]) String() string { return o.text }

func (o Of[T]) base() Of[T] { return o }

// like is implemented by the type Option of a package with settings of type T.
type like[T any] interface{ base() Of[T] }

// Apply changes settings by the options that are given to a function, such as "nn.Dense", in their
// order. It fails at the first option that is not one of those that the function takes, or whose
// arguments are invalid.
func Apply[T any, O like[T]](function string, settings *T, given []O, takes ...string) error {
	other, err := apply(settings, given, takes)
	pkg, name, _ := strings.Cut(function, ".")
	switch {
	case other != nil:
		other.Package, other.Function = pkg, name
		return other
	case err != nil:
		return fmt.Errorf("%s: %w", pkg, err)
	}
	return nil
}

// Reason is [Apply] for functions that panic: it returns the error without the package and the function, as
// the hint of a *tensor.StateError, and "" for none.
func Reason[T any, O like[T]](settings *T, given []O, takes ...string) string {
	other, err := apply(settings, given, takes)
	switch {
	case other != nil:
		return other.reason()
	case err != nil:
		return err.Error()
	}
	return ""
}

func apply[T any, O like[T]](settings *T, given []O, takes []string) (other *Error, invalid error) {
	for _, g := range given {
		o := g.base()
		failed := other != nil || invalid != nil
		switch {
		case o.set == nil:
		case !slices.Contains(takes, o.name):
			if !failed {
				other = &Error{Name: o.name, Option: o.text, Takes: takes}
			}
		case o.err != nil:
			if !failed {
				invalid = o.err
			}
		default:
			o.set(settings)
		}
	}
	return other, invalid
}

// Texts returns options as Go expressions, without those that change nothing.
func Texts[T any, O like[T]](given []O) (texts []string) {
	for _, g := range given {
		if o := g.base(); o.set != nil {
			texts = append(texts, o.text)
		}
	}
	return texts
}

// Error reports an option that a function does not take.
type Error struct {
	Package, Function string
	Name, Option      string   // name of the option, and the option as a Go expression
	Takes             []string // names of the options of the function
}

// Error names the function, the option, and those that the function takes.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s %s", e.Package, e.Function, e.reason())
}

func (e *Error) reason() string {
	last := len(e.Takes) - 1
	list := "its option is " + e.Takes[last]
	if last > 0 {
		list = "its options are " + strings.Join(e.Takes[:last], ", ") + " and " + e.Takes[last]
	}
	return fmt.Sprintf("does not take %s: %s", e.Option, list)
}
