package onnx

import (
	"errors"
	"fmt"
	"strings"
)

// Why a model, or a part of one, cannot be exported; an [*Error] wraps one of them.
var (
	// ErrUnsupported says that an op has no counterpart among ONNX's.
	ErrUnsupported = errors.New("there is no counterpart in ONNX")
	// ErrRandom says that the model draws random numbers.
	ErrRandom = errors.New("a file cannot draw random numbers")
	// ErrDataDependent says that the model does in Go what depends on the numbers
	// of its input.
	ErrDataDependent = errors.New("what Go does with numbers of the input cannot be exported")
	// ErrChanging says that the model computes something else when it is called
	// again, or with another size.
	ErrChanging = errors.New("the model is not the same each time")
	// ErrTooLarge says that the weights do not fit into one file of the format.
	ErrTooLarge = errors.New("a file of this format cannot have more than 2 GiB")
)

// Error says what of a model cannot be exported, and why.
type Error struct {
	Op    string // of the tensor; empty where no op is to blame
	Path  string // of its layer, such as "2.0"; empty outside of chains
	Layer string // as it is written in Go
	Err   error  // wraps one of those above
}

// Error names layer, op and reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("onnx: ")
	if e.Path != "" {
		fmt.Fprintf(&b, "layer %s, %s: ", e.Path, e.Layer)
	}
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap is the reason.
func (e *Error) Unwrap() error { return e.Err }
