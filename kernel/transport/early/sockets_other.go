//go:build !unix

package early

// sockets is empty: nothing is bound early on this system.
type sockets struct{}

func (sockets) bind([4]byte, int) bool { return false }
func (sockets) close()                 {}

// Take returns false: nothing is bound early on this system.
func Take(string, int) (fd uintptr, ok bool) { return 0, false }

func read(string) ([]byte, bool) { return nil, false }
