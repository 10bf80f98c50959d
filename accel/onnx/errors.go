package onnx

import (
	"errors"
	"fmt"
	"strings"
)

// Reasons why a model, or a part of one, cannot be exported; an [*Error] wraps one of them.
var (
	// ErrUnsupported: an op has no counterpart in ONNX.
	ErrUnsupported = errors.New("there is no counterpart in ONNX")
	// ErrRandom: the model draws random numbers.
	ErrRandom = errors.New("an exported model cannot draw random numbers")
	// ErrDataDependent: the model's Go code depends on values computed from its input.
	ErrDataDependent = errors.New("Go code that reads values computed from the input cannot be exported")
	// ErrChanging: the model computes something different when it is called again, or with another
	// size.
	ErrChanging = errors.New("the model does not compute the same in each call")
	// ErrTooLarge: the weights do not fit into one file.
	ErrTooLarge = errors.New("an ONNX file cannot have more than 2 GiB")
)

// Error says which part of a model cannot be exported, and why.
type Error struct {
	Op    string // name of the op; empty if no op is the cause
	Path  string // path of its layer, such as "2.0"; empty outside chains
	Layer string // the layer as a Go expression
	Err   error  // wraps one of the errors above
}

// Error names the layer, the op and the reason.
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

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }
