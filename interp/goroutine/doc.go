// Package goroutine finds the cell that a goroutine belongs to, and whether that cell has
// been interrupted.
//
//	run.go      Run: one execution of a cell
//	calls.go    calls that end with a run and return what they have
//	member.go   Member: a goroutine of a run, with those that compiled code starts from it; Members finds that of the caller
//	context.go  contexts that end with a run
package goroutine
