// Package check compares what code returns with what it should return, for exercises and their tests.
//
//	import "github.com/quernlab/quern/check"
//
//	check.Equal(double(3), 6)
//	check.Near(mean(1, 2, 4), 2.333, 0.001, "the mean of 1, 2 and 4")
//	check.Panics(func() { divide(1, 0) })
//
// A check that does not hold fails the cell: it panics with a [*Failure], which recover in a cell does not return.
//
// In a cell that imports this package, predeclared names such as panic, len and true have their meaning in Go, and package
// names that follow their usual meaning are packages, whatever earlier cells have defined. So nothing that a student writes
// changes the checks, except the functions that they call. The import must be written in the cell: without it the name check
// may be one of an earlier cell.
//
// [Exercise] shows what checks say instead of failing the cell, for exercises that students check themselves:
//
//	check.Exercise(func() {
//		check.Equal(double(3), 6, "double(3)")
//	})
//
// shows "solved", or "not solved yet: double(3): got 0, want 6".
//
// The last arguments of each other function say what is checked; they begin the text of the failure.
package check
