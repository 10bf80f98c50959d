// Package programs splits Go programs into cells in several ways, as people write them in
// notebooks, and tests that all of them print what the compiled program prints.
//
// The programs are in testdata, with one archive for each theme:
//
//	-- name.go --
//	package main
//	…
//	-- name.out --
//	what the compiled program prints
//
// The outputs come from compiled programs. To regenerate them, run
//
//	go test ./interp/internal/programs -run TestPrograms/THEME -update
//
// Files with the suffix .cells are sequences of cells that redefine what earlier cells
// defined. Their outcomes cannot come from a compiled program: after -update, check the
// changes by hand.
//
// The output of a program must not depend on time, on the order of maps or on addresses,
// must end with a line break, and must go to standard output through package fmt or
// another package that takes a writer.
package programs
