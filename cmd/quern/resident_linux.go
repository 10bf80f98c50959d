package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram takes the pages of the program itself out of this process.
// Starting has gone through most of them once, and where the file is cached in
// large pages the system maps all of it; what is needed again comes back from
// that cache, a few pages at a time. An error means that the rest of them stays,
// which does no harm.
func releaseProgram() error {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("finding the program: %w", err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("finding the program in memory: %w", err)
	}
	for _, m := range mappings(string(maps), path) {
		if m.writable || !m.asInFile {
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

// mapping is a part of a file in memory.
type mapping struct {
	start, end uintptr
	writable   bool
	// asInFile tells that nobody has written into it. The loader does, into parts
	// that it makes read-only afterwards.
	asInFile bool
}

// mappings finds a file in the text of /proc/self/smaps: of each mapping a line as
// in /proc/self/maps, and below it others of the form "Name: value".
func mappings(text, path string) []mapping {
	var all []mapping
	var m *mapping // the current one, if it is of the file
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, " ")
		switch {
		case name == "Anonymous:" && m != nil:
			m.asInFile = strings.TrimSpace(value) == "0 kB"
		case !strings.HasSuffix(name, ":"):
			m = nil
			if !strings.HasSuffix(value, " "+path+"\n") {
				continue
			}
			var next mapping
			var mode string
			if n, _ := fmt.Sscanf(line, "%x-%x %s", &next.start, &next.end, &mode); n == 3 {
				next.writable = strings.Contains(mode, "w")
				all = append(all, next)
				m = &all[len(all)-1]
			}
		}
	}
	return all
}
