// Package library implements functions that cells use instead of those of compiled packages,
// and, for lowered code, methods of compiled types.
//
// Functions that wait, serve or start something end with the run that calls them:
//
//	timer.go    time.Sleep, time.AfterFunc, context.AfterFunc, runtime.SetFinalizer
//	context.go  functions of Quern's packages that take a context
//	server.go   servers of package http
//	child.go    child processes and their standard input
//
// Functions that return or print a source position use one in a cell, not in the interpreter:
//
//	caller.go   runtime.Caller, debug.Stack
//	logger.go   loggers of package log, log.Fatal and os.Exit, the streams of package fmt
//	testing.go  testing.T, B and F
//
// Functions that call functions of cells on goroutines of package testing make a panic fail the test:
//
//	testhooks.go  methods such as T.Run, testing.Benchmark, testing.RunTests
//	testrun.go    the run of the tests of a session, for %test
//
// Functions that need the source of a function:
//
//	kernel.go  kernel.Compile, and kernel.CompileCUDAAll for %%cuda
//
// library.go adds all of them to the tables of packages, and declares what they need from the
// session.
package library
