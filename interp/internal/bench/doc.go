// Command bench compares small programs as cells with the same programs in Python. It runs them alternately, several times, and prints a
// table of the shortest CPU times, which include the compilation of the cell and garbage collection. So its ratios are usable on a machine
// that does other things, too. Most programs run twice as a cell: their statements in a function, and at the top level.
//
//	go run ./interp/internal/bench [-python python3] [-rounds 3] [-run name] [-go]
//
// With -go, it also shows the time of the same statements compiled by Go.
//
// The programs are in testdata: a Go cell and a Python program with the same name. Both
// print the same.
package main
