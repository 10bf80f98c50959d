// Package diagnostics makes the error messages and tracebacks of cells.
//
// Nothing here runs a cell or interrupts it. In the order of the data flow:
//
//	sources.go    Sources: the text of cells, and where their functions are
//	traceback.go  Tracebacks: active functions as lines
//	location.go   where functions of cells are, for package runtime and loggers
//	reporter.go   Reporter: converts errors of the compiler or of a cell to an Error
//	error.go      Error, and the values with which lowered code panics
package diagnostics
