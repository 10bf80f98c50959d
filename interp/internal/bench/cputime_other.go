//go:build !unix

package main

import "time"

var started = time.Now()

// used returns the time since the start of this process: the CPU time is not known here.
func used() time.Duration { return time.Since(started) }
