// Package programs cuts Go programs into cells in the ways that people write
// them in notebooks, so that one program, whose output compiled Go tells, tries
// many sequences of cells.
//
// The programs are under testdata, one archive a theme:
//
//	-- name.go --
//	package main
//	…
//	-- name.out --
//	what the compiled program prints
//
// The outputs are those of the go command and are renewed by it:
//
//	go test ./interp/internal/programs -run TestPrograms/THEME -update
//
// Files with the ending cells are sequences of cells that change what earlier
// ones defined; no compiler tells their outcomes, so whoever renews them with
// -update has to read them.
//
// What a program prints must not depend on time, on the order of maps or on
// addresses, must end with a line break, and must go to standard output through package fmt or another that
// takes a writer.
package programs
