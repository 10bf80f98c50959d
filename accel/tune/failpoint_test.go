//go:build failpoints

package tune

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// A search whose file fails, or whose process is killed while writing it, makes the same trials
// in the end.
func TestFailpoints(t *testing.T) {
	run := func(folder string, trials int) (*Search, error) {
		return Run(context.Background(), bowl, Trials(trials), Resume(filepath.Join(folder, "search.jsonl")), Quiet())
	}
	failpointtest.Run(t, "trials", failpointtest.Scenario{
		Before:  func(folder string) error { _, err := run(folder, 2); return err },
		Attempt: func(folder string) error { _, err := run(folder, 4); return err },
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if !o.Killed && o.Error == "" {
				t.Error("no error")
			}
			whole, err := run(t.TempDir(), 6)
			if err != nil {
				t.Fatal(err)
			}
			resumed, err := run(folder, 6)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := tried(resumed), tried(whole); !slices.Equal(got, want) {
				t.Errorf("tried %q\nwant %q", got, want)
			}
		},
	})
}
