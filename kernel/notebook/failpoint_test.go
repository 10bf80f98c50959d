//go:build failpoints

package notebook_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/internal/failpoint/failpointtest"
	"github.com/quernlab/quern/kernel/notebook"
)

// The output file of quern run -o is either the old one or the new one.
func TestFailpoints(t *testing.T)        { failpoints(t, "notebook") }
func TestFailpointsOfFiles(t *testing.T) { failpoints(t, "file") }

func failpoints(t *testing.T, owner string) {
	write := func(folder, source string) error {
		n, err := notebook.Parse([]byte(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`))
		if err != nil {
			return err
		}
		n.Cells = []*notebook.Cell{notebook.NewCode(source, "test")}
		return n.Write(filepath.Join(folder, "done.ipynb"))
	}
	failpointtest.Run(t, owner, failpointtest.Scenario{
		Before: func(folder string) error {
			if err := os.WriteFile(filepath.Join(folder, ".save-12"), nil, 0o600); err != nil { // left by a killed process
				return err
			}
			return write(folder, "old")
		},
		Attempt: func(folder string) error {
			if err := os.WriteFile(filepath.Join(folder, ".save-13"), nil, 0o600); err != nil {
				return err
			}
			return write(folder, "new")
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			n, err := notebook.Read(filepath.Join(folder, "done.ipynb"))
			if err != nil || len(n.Cells) != 1 {
				t.Fatalf("%+v, %v", n, err)
			}
			if source := n.Cells[0].Source; source != "new" && (source != "old" || !o.Killed && o.Error == "") {
				t.Errorf("the notebook has %q; %+v", source, o)
			}
			if err := write(folder, "next"); err != nil {
				t.Fatal(err)
			}
			if left := failpointtest.Left(t, folder, ".*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		},
	})
}
