// Package option has what the options of packages active, prof, prune and quantize share: each
// is a function on the settings of its package, and prints as the Go expression that makes it.
package option

import (
	"fmt"
	"strconv"
	"strings"
)

// Of is an option for settings of type T. A package embeds it in its type Option.
type Of[T any] struct {
	text string
	set  func(*T) error
}

// New returns an option, with the Go expression that makes it.
func New[T any](text string, set func(*T) error) Of[T] { return Of[T]{text, set} }

// String returns the option as a Go expression without the package.
func (o Of[T]) String() string { return o.text }

// Apply changes the settings. The zero option changes nothing.
func (o Of[T]) Apply(settings *T) error {
	if o.set == nil {
		return nil
	}
	return o.set(settings)
}

// All applies options in their order, up to the first error.
func All[T any, O interface{ Apply(*T) error }](settings *T, options []O) error {
	for _, o := range options {
		if err := o.Apply(settings); err != nil {
			return err
		}
	}
	return nil
}

// Count returns an option of a package that sets an integer, which must be at least least.
func Count[T any](pkg, name string, n, least int, field func(*T) *int) Of[T] {
	text := fmt.Sprintf("%s(%d)", name, n)
	return New(text, func(settings *T) error {
		if n < least {
			return fmt.Errorf("%s: %s: the number must be at least %d", pkg, text, least)
		}
		*field(settings) = n
		return nil
	})
}

// Names returns an option with names of layers as its arguments, which it adds to a list.
func Names[T any](name string, names []string, field func(*T) *[]string) Of[T] {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return New(name+"("+strings.Join(quoted, ", ")+")", func(settings *T) error {
		list := field(settings)
		*list = append(*list, names...)
		return nil
	})
}
