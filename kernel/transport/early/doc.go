// Package early listens on the ports of a kernel before the program's packages are
// initialized.
//
// A client connects as soon as the process exists. If nothing is listening yet, ZeroMQ
// retries after 100 ms, so a few milliseconds of startup become many. Go initializes all
// packages before main. Here these include an interpreter, the symbols of the whole
// standard library, and fonts; that takes more than half of the startup time.
//
// Go initializes packages in the order of their import paths, as far as their imports
// allow (https://go.dev/ref/spec#Program_initialization). On Linux this package imports
// only [syscall], not even [os], so it is initialized before nearly all others. Its init
// function binds the ports of the command line "quern kernel -f FILE". Clients wait in
// the backlog of the sockets until package transport takes these with [Take] and serves
// them.
//
// This is only an optimization. Whatever this package does not understand or cannot do,
// it leaves to package transport, which then binds the ports and reports errors. If the
// order of initialization changed, startup would be slower but still correct.
package early
