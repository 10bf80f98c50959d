// Package shared has variables that goroutines share without locks and that the VM reads at each call or iteration.
//
// They are those of package sync/atomic, except in WebAssembly. There is only one thread there, no timer interrupts a
// goroutine, and the functions of sync/atomic are three calls each, which took longer than the instructions around them.
package shared
