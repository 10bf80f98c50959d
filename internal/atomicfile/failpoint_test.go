//go:build failpoints

package atomicfile_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quernlab/quern/internal/atomicfile"
	"github.com/quernlab/quern/internal/failpoint"
	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// Larger than the buffer, so that there are several writes.
var before, after = bytes.Repeat([]byte("old"), 1<<20), bytes.Repeat([]byte("new!"), 1<<20)

func replace(folder string, content []byte) error {
	return atomicfile.Replace(filepath.Join(folder, "a"), func(w io.Writer) error {
		for part := range slices.Chunk(content, 1000) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestFailpoints(t *testing.T) {
	failpointtest.Run(t, "file", failpointtest.Scenario{
		Before: func(folder string) error {
			// Files left by a killed process are removed by the next one.
			if err := os.WriteFile(filepath.Join(folder, ".save-4711"), before, 0o600); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(folder, "a"), before, 0o640)
		},
		Attempt: func(folder string) error { return replace(folder, after) },
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			got, err := os.ReadFile(filepath.Join(folder, "a"))
			if err != nil {
				t.Fatal(err)
			}
			renamed := o.Point == failpoint.FileSyncFolder || o.Point == failpoint.FileClean && !o.Killed
			if want := map[bool][]byte{false: before, true: after}[renamed]; !bytes.Equal(got, want) {
				t.Errorf("the file has %d bytes that begin with %.8q", len(got), got)
			}
			if fails := o.Point != failpoint.FileClean; !o.Killed && (o.Error != "") != fails {
				t.Errorf("the error is %q", o.Error)
			}
			if left := failpointtest.Left(t, folder, ".save-*"); !o.Killed && o.Point != failpoint.FileClean && len(left) > 0 {
				t.Errorf("left behind without a kill: %q", left)
			}
			if err := replace(folder, []byte("next")); err != nil {
				t.Fatal(err)
			}
			got, err = os.ReadFile(filepath.Join(folder, "a"))
			if err != nil || string(got) != "next" {
				t.Errorf("the next one wrote %.8q, %v", got, err)
			}
			if info, err := os.Stat(filepath.Join(folder, "a")); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if left := failpointtest.Left(t, folder, ".save-*"); len(left) > 0 {
				t.Errorf("the next one left %q", left)
			}
		},
	})
}

// A program never has its new content with the permissions of the file before, even if its process was killed.
func TestFailpointsOfModes(t *testing.T) {
	failpointtest.Run(t, "file", failpointtest.Scenario{
		Before: func(folder string) error {
			return errors.Join(os.WriteFile(filepath.Join(folder, ".save-4711"), before, 0o600), os.WriteFile(filepath.Join(folder, "a"), before, 0o600))
		},
		Attempt: func(folder string) error {
			return atomicfile.ReplaceLink(filepath.Join(folder, "a"), 0o755, func(w io.Writer) error {
				_, err := w.Write(after)
				return err
			})
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			got, err := os.ReadFile(filepath.Join(folder, "a"))
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(folder, "a"))
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); bytes.Equal(got, after) != (mode == 0o755) || bytes.Equal(got, before) != (mode == 0o600) {
				t.Errorf("%v: %d bytes that begin with %.8q, mode %v", o.Point, len(got), got, mode)
			}
		},
	})
}

func TestFailpointsOfFolders(t *testing.T) {
	create := func(folder string) error {
		return atomicfile.CreateFolder(filepath.Join(folder, "a"), func(work, content string) error {
			if err := errors.Join(os.WriteFile(filepath.Join(work, "scratch"), nil, 0o600), os.Mkdir(content, 0o755)); err != nil {
				return err
			}
			for _, name := range []string{"1", "2"} {
				if err := os.WriteFile(filepath.Join(content, name), []byte(name), 0o444); err != nil {
					return err
				}
			}
			return nil
		})
	}
	failpointtest.Run(t, "folder", failpointtest.Scenario{
		Before: func(folder string) error { // left by a killed process
			if err := os.Mkdir(filepath.Join(folder, ".save-4711"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(folder, ".save-4711", "1"), nil, 0o644)
		},
		Attempt: create,
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if !o.Killed && o.Error == "" {
				t.Error("no error")
			}
			if left := failpointtest.Left(t, folder, ".save-*"); !o.Killed && len(left) > 0 {
				t.Errorf("left behind without a kill: %q", left)
			}
			_, err := os.Stat(filepath.Join(folder, "a"))
			if renamed := o.Point == failpoint.FolderSyncParent; (err == nil) != renamed {
				t.Errorf("the folder: %v", err)
			}
			if err == nil { // complete
				whole(t, folder)
			}
			if err := create(folder); err != nil {
				t.Fatal(err)
			}
			whole(t, folder)
			if left := failpointtest.Left(t, folder, ".save-*"); len(left) > 0 {
				t.Errorf("the next one left %q", left)
			}
		},
	})
}

func whole(t *testing.T, folder string) {
	t.Helper()
	for _, name := range []string{"1", "2"} {
		if b, err := os.ReadFile(filepath.Join(folder, "a", name)); err != nil || string(b) != name {
			t.Errorf("file %s has %q, %v", name, b, err)
		}
	}
}
