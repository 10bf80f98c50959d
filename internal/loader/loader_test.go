//go:build linux

package loader

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// write creates a file without an architecture, which is accepted for all of them.
func write(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	const name = "libquern-none.so.1"
	root := t.TempDir()
	good := write(t, root, "good", name)
	open := write(t, root, "open", name)
	if err := os.Chmod(filepath.Dir(open), 0o777); err != nil {
		t.Fatal(err)
	}
	wide := filepath.Join(root, "wide")
	if err := os.Mkdir(wide, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(wide, 0o777); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Dir(write(t, root, "notebook", name))
	clean := filepath.Join(root, "clean")
	if err := os.Mkdir(clean, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, path, working, want, err string
	}{
		{"a directory", filepath.Dir(good), planted, good, ""},
		{"the second", root + ":" + filepath.Dir(good), planted, good, ""},
		{"semicolon", root + ";" + filepath.Dir(good), planted, good, ""},
		{"empty element at the start", ":" + filepath.Dir(good), planted, "", "has an empty element, which means the working directory, and there is " + name},
		{"empty element at the end", filepath.Dir(good) + ":", planted, "", "has an empty element"},
		{"empty element between", filepath.Dir(good) + "::" + root, planted, "", "has an empty element"},
		{"empty element where nothing is", ":" + filepath.Dir(good), clean, good, ""},
		{"relative", "notebook", root, "", `has the element "notebook", and there is notebook/` + name},
		{"dot", ".:" + filepath.Dir(good), planted, "", "is not an absolute path"},
		{"writable", filepath.Dir(open), clean, "", "can be written by everybody"},
		{"writable without libraries", wide + ":" + filepath.Dir(good), clean, good, ""},
		{"nothing", "", planted, "", name + " is not on the loader's path"},
		{"token", "$ORIGIN/../lib", planted, "", "is not on the loader's path"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Chdir(row.working)
			got, err := Find(name, row.path)
			if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %q, %v, want %q, %q", got, err, row.want, row.err)
			}
		})
	}
}

// The C library is in the loader's cache or in a directory of the system.
func TestFindOfTheSystem(t *testing.T) {
	t.Parallel()
	path, err := Find("libc.so.6", "")
	var none *NotFoundError
	if errors.As(err, &none) {
		testenv.Optional(t, "another C library")
	}
	if err != nil || !filepath.IsAbs(path) {
		t.Errorf("got %q, %v", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func FuzzCache(f *testing.F) {
	if text, err := os.ReadFile(cacheFile); err == nil && len(text) < 1<<20 {
		f.Add(text)
	}
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range parseCache(text, "libc.so.6") {
			if path == "" {
				t.Error("an empty path")
			}
		}
	})
}
