package main

import (
	"debug/elf"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram takes the pages of the program itself out of this process.
// Starting has gone through most of them once, and where the file is cached in
// large pages the system maps all of it; what is needed again comes back from
// that cache, a few pages at a time. An error means that they stay, which does
// no harm.
func releaseProgram() error {
	const self = "/proc/self/exe"
	path, err := os.Readlink(self)
	if err != nil {
		return fmt.Errorf("finding the program: %w", err)
	}
	constant, err := constantParts(self)
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("finding the program in memory: %w", err)
	}
	for line := range strings.Lines(string(maps)) {
		var m mapping
		if !m.parse(line) || m.path != path || !constant.hold(m.offset) {
			continue
		}
		// Without this the first page that is needed brings two megabytes along. A
		// system without large pages does not know it.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_NOHUGEPAGE)
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("releasing the program: %w", errno)
		}
	}
	return nil
}

// parts are ranges of a file, in bytes.
type parts []struct{ from, to uint64 }

func (p parts) hold(offset uint64) bool {
	for _, part := range p {
		if part.from <= offset && offset < part.to {
			return true
		}
	}
	return false
}

// constantParts are the parts of a program that nobody writes, the loader
// included: they are in memory as they are in the file.
func constantParts(path string) (parts, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var constant parts
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W == 0 {
			constant = append(constant, struct{ from, to uint64 }{p.Off, p.Off + p.Filesz})
		}
	}
	return constant, nil
}

// mapping is a line of /proc/self/maps.
type mapping struct {
	start, end uintptr
	offset     uint64
	path       string
}

func (m *mapping) parse(line string) bool {
	var mode, device string
	var inode uint64
	n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.start, &m.end, &mode, &m.offset, &device, &inode)
	_, path, file := strings.Cut(line, "/") // spaces belong to it
	m.path = "/" + strings.TrimSuffix(path, "\n")
	return n == 6 && file && !strings.Contains(mode, "w")
}
