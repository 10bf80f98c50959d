package child

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// openLink opens the inherited pipes. Programs that a cell starts do not inherit them.
func openLink(readFrom, writeTo uintptr) (io.ReadWriteCloser, error) {
	for _, h := range []uintptr{readFrom, writeTo} {
		if err := windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, 0); err != nil {
			return nil, os.NewSyscallError("SetHandleInformation", err)
		}
	}
	return duplexPipe{os.NewFile(readFrom, "link"), os.NewFile(writeTo, "link")}, nil
}

// duplicate returns a handle of the same pipe that programs started by a cell do not
// inherit.
func duplicate(f *os.File) (*os.File, error) {
	self := windows.CurrentProcess()
	var h windows.Handle
	if err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &h, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, os.NewSyscallError("DuplicateHandle", err)
	}
	return os.NewFile(uintptr(h), f.Name()), nil
}
