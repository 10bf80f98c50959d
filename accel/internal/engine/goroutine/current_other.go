//go:build !amd64 && !arm64 && !wasm

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// Current returns the identity of the calling goroutine: the number in the first line of
// its stack trace, "goroutine 18 [running]:".
func Current() Identity {
	var line [64]byte
	words := bytes.Fields(line[:runtime.Stack(line[:], false)])
	if len(words) > 1 {
		if n, err := strconv.ParseUint(string(words[1]), 10, 64); err == nil {
			return Identity(n)
		}
	}
	panic("goroutine: the stack trace does not begin with the goroutine's number")
}
