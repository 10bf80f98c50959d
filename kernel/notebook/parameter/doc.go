// Package parameter sets parameters of a notebook from the command line.
//
// A parameter is data: [Parse] reads a Go literal, or else a text, and writes it
// anew from what was read, on one line. Nothing of the value can be executed, since
// no function, conversion, operator, variable or comment survives, and nothing in it
// can start a magic. [Inject] puts the parameters into a cell behind the one tagged
// "parameters" and compares each with the type that this cell gives it, as far as
// the cell alone tells the type; the compiler of the session compares the rest.
package parameter
