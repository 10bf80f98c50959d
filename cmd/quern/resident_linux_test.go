package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// filePages returns how many pages of files are in the memory of this process.
func filePages(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		testenv.Missing(t, "no /proc: %v", err)
	}
	var size, resident, shared int
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		t.Fatal(err)
	}
	return shared
}

// constants returns the read-only parts of the program, by mapping.
func constants(t *testing.T) map[uintptr][]byte {
	t.Helper()
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	content := map[uintptr][]byte{}
	for _, m := range mappings(string(text), path) {
		if m.writable {
			continue
		}
		content[m.start] = make([]byte, m.end-m.start)
		if _, err := memory.ReadAt(content[m.start], int64(m.start)); err != nil {
			t.Fatalf("mapping at %#x: %v", m.start, err)
		}
	}
	if len(content) == 0 {
		t.Fatal("the program is not in its own memory")
	}
	return content
}

// Released pages have the same content afterwards, including addresses that the loader
// has written into read-only parts.
func TestReleaseProgram(t *testing.T) {
	before := constants(t) // this also maps all of it into memory
	pages := filePages(t)
	if err := releaseProgram(); err != nil {
		t.Fatal(err)
	}
	if after := filePages(t); after >= pages {
		t.Errorf("%d pages of files before, %d after", pages, after)
	}
	after := constants(t)
	for start, content := range before {
		if !bytes.Equal(content, after[start]) {
			t.Errorf("the %d bytes at %#x have changed", len(content), start)
		}
	}
}

func TestMappings(t *testing.T) {
	t.Parallel()
	got := mappings(`00411000-015fd000 r-xp 00011000 fe:00 5508231                            /opt/my tools/quern
Rss:               18512 kB
Anonymous:             0 kB
02949000-0294e000 r--p 02549000 fe:00 5508231 /opt/my tools/quern
Anonymous:            20 kB
AnonHugePages:         0 kB
0294e000-02f22000 rw-p 0254e000 fe:00 5508231 /opt/my tools/quern
Anonymous:             0 kB
03000000-03001000 r--p 0254e000 fe:00 5508231 /opt/my tools/quern
7f0c000-7f0d000 r--p 00000000 00:00 0 
Anonymous:             0 kB
7f1c000-7f1d000 r--p 00000000 fe:00 77 /lib/libc.so.6
Anonymous:             0 kB
VmFlags: rd mr mw me
`, "/opt/my tools/quern")
	want := []mapping{
		{start: 0x411000, end: 0x15fd000, asInFile: true},
		{start: 0x2949000, end: 0x294e000},
		{start: 0x294e000, end: 0x2f22000, writable: true, asInFile: true},
		{start: 0x3000000, end: 0x3001000},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
