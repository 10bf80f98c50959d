// Package format formats cells as gofmt formats files.
//
// A cell is divided into commands, which stay as they are, and runs of declarations or statements, which are
// printed by go/printer. Of blank lines between them one remains. A semicolon that hides the value of the last
// expression stays, and a list of expressions at the end is formatted like arguments of a call.
//
//	format.go  Formatter, and how a cell is divided
//	code.go    a run of declarations or statements
//	names.go   the names that cells define, to tell !f() from a shell command
package format
