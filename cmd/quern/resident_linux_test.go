package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// filePages is how many pages of files this process has in memory.
func filePages(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc:", err)
	}
	var size, resident, shared int
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		t.Fatal(err)
	}
	return shared
}

func TestReleaseProgram(t *testing.T) {
	before := filePages(t)
	if err := releaseProgram(); err != nil {
		t.Fatal(err)
	}
	if after := filePages(t); after >= before {
		t.Errorf("%d pages of files before, %d after", before, after)
	}
	// What was released comes back: the formatting of this is code, and its table.
	if got := fmt.Sprintf("%q", strings.Fields(" a  b ")); got != `["a" "b"]` {
		t.Errorf("got %s", got)
	}
}

func TestParseMapping(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, line string
		want       mapping
		ok         bool
	}{
		{"code", "00411000-015fd000 r-xp 00011000 fe:00 5508231                            /opt/my tools/quern\n",
			mapping{0x411000, 0x15fd000, 0x11000, "/opt/my tools/quern"}, true},
		{"replaced meanwhile", "00400000-00411000 r--p 00000000 fe:00 5508231 /opt/quern (deleted)\n",
			mapping{0x400000, 0x411000, 0, "/opt/quern (deleted)"}, true},
		{"data", "0294e000-02f22000 rw-p 0254d000 fe:00 5508231 /opt/quern\n", mapping{}, false},
		{"anonymous", "7f0c000-7f0d000 r--p 00000000 00:00 0 \n", mapping{}, false},
		{"nothing", "\n", mapping{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got mapping
			if ok := got.parse(row.line); ok != row.ok || ok && got != row.want {
				t.Errorf("got %v, %+v, want %v, %+v", ok, got, row.ok, row.want)
			}
		})
	}
}
