//go:build unix

package early

import (
	"os"
	"syscall"
)

// sockets are file descriptors by address and port.
type sockets map[key]int

type key struct {
	ip   [4]byte
	port int
}

// backlog is how many clients may wait; the system allows fewer.
const backlog = 4096

// bind adds a socket that listens, as package net would.
func (s sockets) bind(ip [4]byte, port int) bool {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	syscall.CloseOnExec(fd) // nothing is started before main
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

// Take returns the socket that listens on an IPv4 address and a port, or nil if this
// package has not bound it. The caller closes it. Not for several goroutines at once.
func Take(ip string, port int) *os.File {
	at, ok := address(ip)
	if !ok {
		return nil
	}
	fd, ok := bound[key{at, port}]
	if !ok {
		return nil
	}
	delete(bound, key{at, port})
	return os.NewFile(uintptr(fd), "listener")
}
