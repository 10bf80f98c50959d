//go:build failpoints

package install_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/install"
	"github.com/quernlab/quern/internal/failpoint/failpointtest"
)

// TestFailpoints installs a kernelspec beside another one, and in place of one, while an
// operation fails. The result is the complete old or new kernelspec, and installing again
// results in the new one and no other files.
func TestFailpoints(t *testing.T) { testFailpoints(t, "install") }

func TestFailpointsOfFile(t *testing.T) { testFailpoints(t, "file") }

func TestFailpointsOfFolder(t *testing.T) { testFailpoints(t, "folder") }

func testFailpoints(t *testing.T, owner string) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func(folder, name, display string) error {
		_, err := install.Write(install.Spec{Name: name, DisplayName: display, Executable: executable}, filepath.Join(folder, "kernels"), true)
		return err
	}
	displayName := func(t *testing.T, folder, name string) string {
		text, err := os.ReadFile(filepath.Join(folder, "kernels", name, "kernel.json"))
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		var spec struct {
			DisplayName string `json:"display_name"`
		}
		if err == nil {
			err = json.Unmarshal(text, &spec)
		}
		if err != nil {
			t.Fatal(err)
		}
		return spec.DisplayName
	}
	failpointtest.Run(t, owner, failpointtest.Scenario{
		Before: func(folder string) error {
			if err := write(folder, "quern", "old"); err != nil {
				return err
			}
			// Left by another version and by a killed process.
			dir := filepath.Join(folder, "kernels", "quern")
			return errors.Join(os.WriteFile(filepath.Join(dir, "kernel.js"), nil, 0o600), os.WriteFile(filepath.Join(dir, ".save-1"), nil, 0o600))
		},
		Attempt: func(folder string) error {
			return errors.Join(write(folder, "quern", "new"), write(folder, "fresh", "new"))
		},
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			old, fresh := displayName(t, folder, "quern"), displayName(t, folder, "fresh")
			if old != "old" && old != "new" || fresh != "" && fresh != "new" {
				t.Errorf("there are %q and %q", old, fresh)
			}
			if !o.Killed && o.Error == "" && (old != "new" || fresh != "new") {
				t.Errorf("without an error there are %q and %q", old, fresh)
			}
			if fresh == "" {
				if left := failpointtest.Left(t, folder, "kernels/fresh"); len(left) > 0 {
					t.Error("there is a folder without a kernelspec")
				}
			}
			if err := errors.Join(write(folder, "quern", "last"), write(folder, "fresh", "last")); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"quern", "fresh"} {
				if got := displayName(t, folder, name); got != "last" {
					t.Errorf("%s is %q", name, got)
				}
				for _, logo := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} {
					got, err := os.ReadFile(filepath.Join(folder, "kernels", name, logo))
					want, err2 := os.ReadFile(filepath.Join("logo", logo))
					if err := errors.Join(err, err2); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s of %s: %d bytes, %v", logo, name, len(got), err)
					}
				}
				if all := failpointtest.Left(t, folder, "kernels/"+name+"/*"); len(all) != 4 {
					t.Errorf("%s has %q", name, all)
				}
				if left := failpointtest.Left(t, folder, "kernels/"+name+"/.*"); len(left) > 0 {
					t.Errorf("left behind in %s: %q", name, left)
				}
			}
			if all := failpointtest.Left(t, folder, "kernels/*"); len(all) != 2 {
				t.Errorf("there are %q", all)
			}
			if left := failpointtest.Left(t, folder, "kernels/.*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		},
	})
}
