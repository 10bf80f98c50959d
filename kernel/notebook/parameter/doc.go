// Package parameter sets parameters of a notebook from the command line.
//
// A parameter is data: [Parse] parses a Go literal, or takes the value as a string, and
// generates one line of source from the result. Nothing in a value can be executed, since
// functions, conversions, operators, variables and comments are rejected, and it cannot
// start a magic command. [Inject] puts the parameters into a cell after the one tagged
// "parameters". It compares the type of each with the type in that cell, if the cell
// alone determines it; otherwise the compiler of the session does.
package parameter
