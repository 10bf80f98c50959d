//go:build unix

package statefile

import "syscall"

// Nonblock is the flag that opens what became a pipe since it was looked at without waiting for its
// other end.
const Nonblock = syscall.O_NONBLOCK
