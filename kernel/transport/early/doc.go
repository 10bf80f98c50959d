// Package early listens on the ports of a kernel before the program has started.
//
// A client connects as soon as the process exists. Where nobody listens yet, ZeroMQ
// tries again after 100 ms, so that a few milliseconds of a start become many. And Go
// initialises every package of a program before main, which here are an interpreter, the
// whole standard library as symbols, and fonts: more than half of a start.
//
// Go initialises packages in the order of their import paths, as far as their imports
// allow (https://go.dev/ref/spec#Program_initialization). This package imports [syscall] and
// nothing else on Linux, not even [os], so it comes before nearly all others, and binds the ports of the command line "quern kernel -f FILE" in its init function. The clients
// wait in the backlog of the sockets until package transport takes these by [Take] and
// serves them.
//
// It is an optimisation and nothing else. Whatever it does not understand, or cannot do,
// it leaves alone: then transport binds the ports itself, and reports the errors. If the
// order of initialisation were another one, starts would be slower and still right.
package early
