// Package control starts the goroutines of cells and ends them: on an interrupt, when a
// program ends, and before infinite recursion fills the stack.
//
// Go cannot end a goroutine from outside. Lowered code checks a stop flag at every loop
// head and function entry; while the flag is up, each goroutine there checks whether it has
// to end. Compiled code has no such checks: the session waits a while for it to return, and
// then continues without it.
//
//	flag.go        StopFlag: the flag, and why it is up: an interrupt, or infinite recursion
//	goroutines.go  Goroutines: the go statement, the check of the flag, and what an interrupted goroutine is doing
//	panics.go      panics of goroutines, which fail a cell, and which goroutines are panicking
//	deadlock.go    DeadlockWatch: cells that nothing can wake
//	awaiter.go     Awaiter: waits for the end of an interrupted cell, as long as it had the chance to run, or abandons it
//	unwinder.go    ends functions of cells that compiled code such as accel.Fit has called
package control
