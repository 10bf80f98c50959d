// Package vet finds mistakes in the cells of a notebook without running it: errors of the type checker, what the Go
// compiler would reject, and the findings of the analyzers of go vet.
//
//	vet.go       Notebook: the cells in order, as a session checks them
//	commands.go  magic commands, which are not run, except %get and %reset
//	analyze.go   the analyzers of golang.org/x/tools over a checked cell
//	failed.go    errors that follow from those of an earlier cell, which are left out; names that a cell below defines
package vet
