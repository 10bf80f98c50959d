// Command bench measures small programs as cells and as Python, as the best of three runs that alternate,
// and prints a table of the times, which include the compilation of the cell. Most programs run twice as a cell: their statements in a function, and at the
// top level.
//
//	go run ./interp/internal/bench [-python python3] [-go]
//
// The programs are in testdata: a Go cell and a Python program with the same name. Both
// print the same.
package main
