//go:build !unix

package early

import "os"

// sockets are none: this system has others.
type sockets struct{}

func (sockets) bind([4]byte, int) bool { return false }
func (sockets) close()                 {}

// Take returns nil: nothing is bound early on this system.
func Take(string, int) *os.File { return nil }
