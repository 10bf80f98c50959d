// Command bench measures small programs as cells and as Python, as the best of three runs,
// and prints a table of the times.
//
//	go run ./interp/internal/bench [-python python3]
//
// The programs are in testdata: a Go cell and a Python program with the same name. Both
// print a number, which must be the same.
package main
