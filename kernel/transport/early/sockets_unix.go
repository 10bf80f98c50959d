//go:build unix

package early

import "syscall"

// sockets are file descriptors of listening sockets, by address and port.
type sockets map[key]int

type key struct {
	ip   [4]byte
	port int
}

// backlog is how many clients may wait; the system may lower it.
const backlog = 4096

// bind adds a listening socket with the options of package net.
func (s sockets) bind(ip [4]byte, port int) bool {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	syscall.CloseOnExec(fd) // no process is started before main
	for _, do := range []func() error{
		func() error { return syscall.SetNonblock(fd, true) },
		func() error { return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) },
		func() error { return syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: ip}) },
		func() error { return syscall.Listen(fd, backlog) },
	} {
		if do() != nil {
			syscall.Close(fd)
			return false
		}
	}
	s[key{ip, port}] = fd
	return true
}

func (s sockets) close() {
	for _, fd := range s {
		syscall.Close(fd)
	}
}

// Take returns the file descriptor of the socket that listens on an IPv4 address and
// port, and whether this package has bound it. The caller closes it. It must not be
// called concurrently.
func Take(ip string, port int) (fd uintptr, ok bool) {
	at, ok := address(ip)
	if !ok {
		return 0, false
	}
	n, ok := bound[key{at, port}]
	delete(bound, key{at, port})
	return uintptr(n), ok
}

// read reads a regular file that is not too large.
func read(path string) (text []byte, ok bool) {
	var info syscall.Stat_t
	if syscall.Stat(path, &info) != nil || info.Mode&syscall.S_IFMT != syscall.S_IFREG || info.Size > maxFile {
		return nil, false
	}
	return content(path, int(info.Size))
}

// content reads at most size+1 bytes, so the caller can see that the file has grown.
func content(path string, size int) (text []byte, ok bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer syscall.Close(fd)
	text = make([]byte, size+1)
	for n := 0; n < len(text); {
		more, err := syscall.Read(fd, text[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, false
		}
		if more <= 0 {
			return text[:n], true
		}
		n += more
	}
	return nil, false
}
