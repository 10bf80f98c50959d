//go:build !amd64 || purego

package cpu

import "sync/atomic"

var idle atomic.Uint32

// pause passes a little time without giving up the processor.
func pause(n int) {
	for range n * 4 {
		idle.Load()
	}
}
