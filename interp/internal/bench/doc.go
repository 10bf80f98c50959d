// Command bench times small programs as cells and as Python, in one run, best of
// three, and prints the table that the comment of package interp has.
//
//	go run ./interp/internal/bench [-python python3]
//
// The programs are in testdata, a Go cell and its Python twin of the same name;
// each prints a number, which must be equal.
package main
