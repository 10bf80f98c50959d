// Package control starts the goroutines of cells and ends them: on an interrupt, when a
// program ends, and before a recursion without end fills the stack.
//
// Go cannot end a goroutine from outside. Lowered code checks a stop flag at every loop
// head and function entry; while the flag is up, each goroutine there asks whether it has
// to end. Compiled code is different: the session waits a while for it to return, and then
// goes on without it.
//
//	flag.go          StopFlag: the flag, and why it is up
//	goroutines.go    Goroutines: the go statement, and the check of the flag
//	depth.go         recursion without end
//	interruption.go  Interruption: interrupts of the running cell
//	awaiter.go       Awaiter: waits for the end of an interrupted cell, or abandons it
//	activity.go      what an interrupted goroutine is doing
//	clock.go         how long a cell could have run
package control
