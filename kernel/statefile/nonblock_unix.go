//go:build unix

package statefile

import "syscall"

// Nonblock is the flag with which opening does not block if the file has been replaced by
// a pipe since it was checked.
const Nonblock = syscall.O_NONBLOCK
