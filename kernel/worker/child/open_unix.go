//go:build unix

package child

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// openLink opens the inherited pipes. Programs that a cell starts do not inherit them.
func openLink(readFrom, writeTo uintptr) (io.ReadWriteCloser, error) {
	for _, fd := range []uintptr{readFrom, writeTo} {
		if _, err := unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, os.NewSyscallError("fcntl", err)
		}
		// With the poller, a waiting read does not occupy a thread.
		if err := unix.SetNonblock(int(fd), true); err != nil {
			return nil, os.NewSyscallError("fcntl", err)
		}
	}
	return duplexPipe{os.NewFile(readFrom, "link"), os.NewFile(writeTo, "link")}, nil
}

// duplicate returns a descriptor of the same pipe that programs started by a cell do not
// inherit.
func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
