//go:build unix

package history

import "syscall"

// nonblock opens what became a pipe since it was looked at without waiting for its
// other end.
const nonblock = syscall.O_NONBLOCK
