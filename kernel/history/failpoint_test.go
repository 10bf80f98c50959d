//go:build failpoints

package history

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// TestFailpoints starts a session in a file that is too long and adds a cell, while an
// operation fails. No earlier cell is lost, and the file has only complete lines.
func TestFailpoints(t *testing.T) {
	const earlier = 2*maxEntries + 1
	session := func(folder string) (*file, error) {
		h := newFile(filepath.Join(folder, "below", "history"))
		_, err := h.open(context.Background())
		return h, err
	}
	add := func(folder, input string) error {
		h, err := session(folder)
		if err != nil {
			return err
		}
		defer h.close()
		return h.append(context.Background(), []Entry{{Session: h.session, Line: 1, Input: input}})
	}
	failpointtest.Run(t, "history", failpointtest.Scenario{
		Before: func(folder string) error {
			var text strings.Builder
			for i := range earlier {
				fmt.Fprintf(&text, `{"session":1,"line":%d,"input":"old"}`+"\n", 1+i)
			}
			path := filepath.Join(folder, "below", "history")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			return os.WriteFile(path, []byte(text.String()), 0o600)
		},
		Attempt: func(folder string) error { return add(folder, "attempt") },
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if err := add(folder, "after"); err != nil {
				t.Fatal(err)
			}
			h, err := session(folder)
			if err != nil {
				t.Fatal(err)
			}
			defer h.close()
			entries := h.past()
			last := entries[len(entries)-1]
			if last.Input != "after" || last.Line != 1 {
				t.Errorf("the last cell is %+v", last)
			}
			entries = entries[:len(entries)-1]
			if previous := entries[len(entries)-1]; previous.Input == "attempt" {
				entries = entries[:len(entries)-1]
			} else if !o.Killed && o.Error == "" {
				t.Errorf("the cell is lost without an error; before it is %+v", previous)
			}
			for i, e := range entries {
				if want := earlier - len(entries) + i + 1; e.Input != "old" || e.Line != want {
					t.Fatalf("cell %d of %d is %+v, want line %d", i, len(entries), e, want)
				}
			}
			if len(entries) < maxEntries-2 {
				t.Errorf("%d earlier cells are left", len(entries))
			}
			text, err := os.ReadFile(filepath.Join(folder, "below", "history"))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if !json.Valid([]byte(line)) && (!o.Killed || strings.Count(line, `{"session"`) != 1) {
					t.Errorf("the file has the line %q", line)
				}
			}
			if left := failpointtest.Left(t, filepath.Join(folder, "below"), "*.new"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		},
	})
}
