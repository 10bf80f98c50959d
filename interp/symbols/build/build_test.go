package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/quernlab/quern/internal/testenv"
)

// Programs appear in the cache as a whole. What is left of an interrupted build, and old programs, are removed.
func TestCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func() string {
		t.Helper()
		path, err := os.MkdirTemp(dir, building)
		if err == nil {
			err = os.WriteFile(filepath.Join(path, programFile()), []byte(path), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got := cached(dir, "k"); got != "" {
		t.Errorf("found %s in an empty cache", got)
	}
	first := made()
	path, err := store(dir, "k", first)
	if err != nil || cached(dir, "k") != path {
		t.Fatalf("%s, %v", path, err)
	}
	if again, err := store(dir, "k", made()); err != nil || again != path { // another process was faster
		t.Errorf("%s, %v", again, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != first {
		t.Errorf("%q, %v", text, err)
	}
	if got, err := store(dir, "other", filepath.Join(dir, "missing")); err == nil {
		t.Errorf("stored %s", got)
	}
	left, old := made(), made()
	if _, err := store(dir, "old", old); err != nil {
		t.Fatal(err)
	}
	for path, age := range map[string]time.Duration{left: keepBuild + time.Hour, filepath.Join(dir, "old"): keepProgram + time.Hour} {
		past := time.Now().Add(-age)
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := clean(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) || cached(dir, "old") != "" || cached(dir, "k") == "" {
		t.Errorf("%v, old %q, kept %q", err, cached(dir, "old"), cached(dir, "k"))
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	if key("a", "b") == key("ab", "") || key("a") != key("a") || key("a") == key("b") {
		t.Error("the key does not depend on all texts")
	}
}

func TestIsReleased(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"v0.1.0": true, "v1.2.3-rc.1": true, "(devel)": false, "": false, "v0.1.0+dirty": false, "v0.0.0-20261123085605-cf77687f0000": false} {
		if got := isReleased(version); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	b, err := findBase("")
	if err != nil {
		testenv.Missing(t, "the source is not where the test was built: %v", err)
	}
	if isSource(b.dir) != nil || len(b.id) != 64 {
		t.Errorf("%+v", b)
	}
	if _, err := findBase(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A build that is interrupted leaves nothing behind.
func TestInterrupted(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Build(ctx, Request{Packages: []string{"example.com/m@v1.0.0"}, Source: filepath.Join("..", "..", ".."), Report: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrNoGo) {
		t.Error(err)
	}
	dir, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestShortened(t *testing.T) {
	t.Parallel()
	if got := shortened(strings.Repeat("x\n", maxOutput+2)); !strings.HasSuffix(got, "x\nand 2 more lines") || strings.Count(got, "\n") != maxOutput {
		t.Error(got)
	}
}

// TestNewEnough says that a module older than Quern needs is rejected by its name, before the go command looks for an older
// version of Quern.
func TestNewEnough(t *testing.T) {
	mod, err := modfile.Parse("go.mod", []byte("module m\n\nrequire example.com/a v1.2.0\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := newEnough(mod, []string{"example.com/a@v1.2.0", "example.com/b@v0.1.0"}); err != nil {
		t.Error(err)
	}
	err = newEnough(mod, []string{"example.com/a@v1.1.0"})
	if want := "example.com/a@v1.1.0 is too old: quern itself needs example.com/a@v1.2.0, so use that version or a newer one"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
