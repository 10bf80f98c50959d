// Package library has functions of compiled packages that cells use in place of the
// packages' own, and for lowered code, methods of compiled types.
//
// Functions that wait, serve or start something end with the run that calls them:
//
//	timer.go       time.Sleep, time.AfterFunc, context.AfterFunc, runtime.SetFinalizer
//	context.go     functions of Quern's packages that take a context
//	server.go      servers of package http
//	child.go       child processes
//	childinput.go  the standard input of child processes
//	exit.go        os.Exit, log.Fatal
//
// Functions that name a place in the program name one in a cell, not in the interpreter:
//
//	caller.go      runtime.Caller, debug.Stack
//	logger.go      loggers of package log
//	testing.go     testing.T and the like
//
// And printing and scanning use the streams of the session:
//
//	print.go       package fmt, methods of os.File
//
// library.go puts them all into the tables of packages (packages.go); session.go says what
// they need of the session.
package library
