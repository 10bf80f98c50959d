package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram removes the pages of the program from the memory of this process. The
// start has used most of them once, and if the file is cached in large pages the system
// maps all of it. Pages that are needed again are mapped from the page cache. If it
// fails, pages stay mapped, which does no harm.
func releaseProgram() error {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find the program file: %w", err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("find the program in memory: %w", err)
	}
	for _, m := range mappings(string(maps), path) {
		if m.writable || !m.asInFile {
			continue
		}
		// Otherwise the first page that is needed maps two megabytes. The call fails on
		// systems without large pages.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_NOHUGEPAGE)
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("release the program's pages: %w", errno)
		}
	}
	return nil
}

// mapping is a part of a file that is mapped into memory.
type mapping struct {
	start, end uintptr
	writable   bool
	// asInFile reports that the pages have not been written to. The loader writes into
	// some that it makes read-only afterwards.
	asInFile bool
}

// mappings returns the mappings of a file in the text of /proc/self/smaps. For each
// mapping this has a line as in /proc/self/maps, followed by lines of the form "Name:
// value".
func mappings(text, path string) []mapping {
	var all []mapping
	var m *mapping // the current mapping if it is of the file
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
