//go:build failpoints && unix

package history

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// TestFailpointsOfTail makes the file system write half of a line and then fail to
// truncate it. The next cell starts on a new line, and no other cell is lost.
func TestFailpointsOfTail(t *testing.T) {
	add := func(folder, input string, limited bool) error {
		h := newFile(filepath.Join(folder, "history"))
		if _, err := h.open(context.Background()); err != nil {
			return err
		}
		defer h.close()
		if limited {
			info, err := h.f.Stat()
			if err != nil {
				return err
			}
			limit := uint64(info.Size()) + 10
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
				return err
			}
		}
		return h.append(context.Background(), []Entry{{Session: h.session, Line: 1, Input: input}})
	}
	failpointtest.Run(t, "history tail", failpointtest.Scenario{
		Before:  func(folder string) error { return add(folder, "before", false) },
		Attempt: func(folder string) error { return add(folder, "attempt", true) },
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if !o.Killed && o.Error == "" {
				t.Error("there was no error")
			}
			if err := add(folder, "after", false); err != nil {
				t.Fatal(err)
			}
			h := newFile(filepath.Join(folder, "history"))
			if _, err := h.open(context.Background()); err != nil {
				t.Fatal(err)
			}
			defer h.close()
			var inputs []string
			for _, e := range h.past() {
				inputs = append(inputs, e.Input)
			}
			if got := strings.Join(inputs, " "); got != "before after" {
				t.Errorf("the cells are %s", got)
			}
			text, err := os.ReadFile(filepath.Join(folder, "history"))
			if err != nil {
				t.Fatal(err)
			}
			cut := 0
			for line := range strings.Lines(string(text)) {
				if !json.Valid([]byte(line)) {
					cut++
				}
			}
			if cut != 1 {
				t.Errorf("%d lines are cut in\n%s", cut, text)
			}
		},
	})
}
