// Package stopflag has the flag that running cells check at each function entry and at each end of a loop iteration.
//
// In a browser, everything runs on one thread, and no timer interrupts a goroutine: messages of the page arrive, and other
// goroutines run, only when the running one waits. There the check also waits for a moment from time to time.
package stopflag
