//go:build failpoints

package module_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/internal/failpoint/failpointtest"
	"github.com/quernlab/quern/interp/module"
)

// A module is in the cache completely or not at all, and can be downloaded again.
func TestFailpoints(t *testing.T)          { failpoints(t, "module") }
func TestFailpointsOfFolders(t *testing.T) { failpoints(t, "folder") }

func failpoints(t *testing.T, owner string) {
	root := proxyFolder(t)
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(root))
	t.Setenv("GOSUMDB", "off")
	get := func(folder string) (string, error) {
		if err := os.Setenv("XDG_CACHE_HOME", folder); err != nil {
			return "", err
		}
		ctx := context.Background()
		s := module.New(module.NewProxy())
		if _, err := s.Get(ctx, "example.com/Upper@v1.0.0"); err != nil {
			return "", err
		}
		p, _, err := s.Find(ctx, "example.com/Upper")
		return p.Dir, err
	}
	t.Setenv("XDG_CACHE_HOME", "") // restores it
	failpointtest.Run(t, owner, failpointtest.Scenario{
		Attempt: func(folder string) error { _, err := get(folder); return err },
		Check: func(t *testing.T, folder string, o failpointtest.Outcome) {
			if !o.Killed && o.Error == "" {
				t.Error("no error")
			}
			inside := filepath.Join(folder, "quern", "modules", "example.com")
			if names := failpointtest.Left(t, inside, "!upper@v1.0.0"); len(names) > 0 {
				if text, err := os.ReadFile(filepath.Join(inside, names[0], "x.go")); err != nil || string(text) != "package x // v1.0.0\n" {
					t.Errorf("an incomplete module: %q, %v", text, err)
				}
			}
			if text, err := os.ReadFile(filepath.Join(inside, "!upper@v1.0.0.mod")); err == nil {
				want, err := os.ReadFile(filepath.Join(root, "example.com", "!upper", "@v", "v1.0.0.mod"))
				if err != nil || string(text) != string(want) {
					t.Errorf("an incomplete go.mod file: %q, want %q, %v", text, want, err)
				}
			}
			dir, err := get(folder)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "x.go")); err != nil || string(text) != "package x // v1.0.0\n" {
				t.Errorf("after the second download it has %q, %v", text, err)
			}
			if o.Point != "folder/sync parent" { // the module existed, and nothing was created
				if left := failpointtest.Left(t, inside, ".*"); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			}
		},
	})
}
