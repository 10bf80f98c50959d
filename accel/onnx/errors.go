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
	// ErrNotServable: Triton Inference Server cannot serve the model, or not as configured.
	ErrNotServable = errors.New("cannot be served by Triton")
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

// Reasons why a file cannot be imported; an [*ImportError] wraps one of them, or the error of reading
// the file or of package tensor.
var (
	// ErrImport: the file uses something that this package does not support.
	ErrImport = errors.New("is not supported")
	// ErrMalformed: the file is damaged, or not an ONNX model.
	ErrMalformed = errors.New("the file is damaged or not an ONNX model")
)

// ImportError says which part of a file cannot be imported or run, and why.
type ImportError struct {
	Path string // of the file
	Node string // name of the node; if it has none, of its first output
	Op   string // op of the node, such as "Conv"; empty if no node is the cause
	Err  error  // the reason
}

// Error names the file, the node, its op and the reason.
func (e *ImportError) Error() string {
	text := "onnx: "
	if e.Path != "" {
		text += "import " + e.Path + ": "
	}
	if e.Op != "" {
		text += fmt.Sprintf("node %q, %s: ", e.Node, e.Op)
	}
	return text + e.Err.Error()
}

// Unwrap returns the reason.
func (e *ImportError) Unwrap() error { return e.Err }

// malformed returns an error about a damaged file.
func malformed(format string, arguments ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, arguments...))
}

// unsupported returns an error about something that is not supported.
func unsupported(format string, arguments ...any) error {
	return fmt.Errorf("%s %w", fmt.Sprintf(format, arguments...), ErrImport)
}
