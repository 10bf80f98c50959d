//go:build failpoints

package active

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// A label is on disk when Label returns; if Label fails, it is not stored.
func TestFailpoints(t *testing.T) {
	resume := func(folder string) (*Pool, error) {
		return Resume(filepath.Join(folder, "labels.jsonl"), five(t), 1, 9)
	}
	label := func(folder string) (err error) {
		p, err := resume(folder)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		return p.Label(p.Unlabeled()[:1], 2)
	}
	labeled := func(t *testing.T, folder string) []int {
		t.Helper()
		p, err := resume(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return slices.Clone(p.order)
	}
	failpointtest.Run(t, "labels", failpointtest.Scenario{
		Before:  label,
		Attempt: label,
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			before := labeled(t, folder)
			switch n := len(before); {
			case n != 2 && n != 3:
				t.Errorf("%d labels: %v", n, before)
			case n == 2 && !o.Killed && o.Error == "":
				t.Error("the label is lost without an error")
			case n == 3 && o.Point == "labels/write":
				t.Error("a label that was written in part counts")
			}
			if err := label(folder); err != nil {
				t.Fatal(err)
			}
			if after := labeled(t, folder); len(after) != len(before)+1 || !slices.Equal(after[:len(before)], before) {
				t.Errorf("the next one made %v of %v", after, before)
			}
		},
	})
}
