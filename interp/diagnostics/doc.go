// Package diagnostics says why a cell failed, in the words that a notebook shows.
//
// Nothing here runs a cell or interrupts it. In the order of the data flow:
//
//	sources.go    Sources: the text of cells, and where their functions are
//	traceback.go  Tracebacks: active functions as lines
//	location.go   where functions of cells are, for package runtime and loggers
//	reporter.go   Reporter: makes an Error of what the compiler or a cell returned
//	error.go      Error, and what lowered code panics with
package diagnostics
