//go:build !linux

package data

import "runtime"

// dropFromPageCache says that pages cannot be dropped from the memory of the system.
func dropFromPageCache(string) (reason string) {
	return "files cannot be dropped from the page cache on " + runtime.GOOS
}
