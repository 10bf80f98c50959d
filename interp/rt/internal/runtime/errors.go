// Package runtime has the panic values of Go's runtime with texts of our own: their types have the same names, which cells
// can print.
package runtime

import (
	"reflect"
	"runtime"
	"unsafe"
)

type errorString string

func (e errorString) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements runtime.Error.
func (errorString) RuntimeError() {}

type boundsError string

func (e boundsError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements runtime.Error.
func (boundsError) RuntimeError() {}

type plainError string

func (e plainError) Error() string { return string(e) }

// RuntimeError implements runtime.Error.
func (plainError) RuntimeError() {}

type unhashableTypeError struct{ name string }

func (e unhashableTypeError) Error() string { return "hash of unhashable type: " + e.name }

// RuntimeError implements runtime.Error.
func (unhashableTypeError) RuntimeError() {}

// ErrorString returns an error with the prefix "runtime error: ".
func ErrorString(text string) runtime.Error { return errorString(text) }

// BoundsError returns an error about an index or a slice bound.
func BoundsError(text string) runtime.Error { return boundsError(text) }

// PlainError returns an error whose text has no prefix.
func PlainError(text string) runtime.Error { return plainError(text) }

// UnhashableTypeError returns the error for a lookup in an empty map. name is that of the key's type.
func UnhashableTypeError(name string) runtime.Error { return unhashableTypeError{name} }

// assertionError has the memory layout of runtime.TypeAssertionError.
type assertionError struct {
	source, concrete, asserted unsafe.Pointer
	missing                    string
}

// AssertionError returns the error of a failed assertion from the interface type source to asserted. concrete is the type of the value, nil
// for nil, and missing the name of a method that it lacks. source is nil if asserted is an interface type.
func AssertionError(source, concrete, asserted reflect.Type, missing string) runtime.Error {
	word := func(t reflect.Type) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1] }
	e := &runtime.TypeAssertionError{}
	*(*assertionError)(unsafe.Pointer(e)) = assertionError{word(source), word(concrete), word(asserted), missing}
	return e
}
