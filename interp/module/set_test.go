package module_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/module"
)

// registry is a Source in a directory: path@version, with a go.mod file.
type registry struct{ root string }

func (r registry) Resolve(_ context.Context, path, query string) (string, error) {
	if query != "latest" {
		return "", fmt.Errorf("%s: no version %s", path, query)
	}
	return "v1.9.0", nil
}

func (r registry) GoMod(_ context.Context, m xmodule.Version) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.root, m.String(), "go.mod"))
}

func (registry) Retracted(context.Context, xmodule.Version) (string, error) { return "", nil }

func (r registry) Dir(_ context.Context, m xmodule.Version) (string, error) {
	dir := filepath.Join(r.root, m.String())
	_, err := os.Stat(dir)
	return dir, err
}

func newRegistry(t *testing.T, files map[string]string) registry {
	t.Helper()
	r := registry{t.TempDir()}
	for name, text := range files {
		name = filepath.Join(r.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestSet(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := module.New(newRegistry(t, map[string]string{
		"example.com/a@v1.0.0/go.mod":       "module example.com/a\nrequire example.com/b v1.1.0\nrequire example.com/c v1.0.0\n",
		"example.com/a@v1.9.0/go.mod":       "module example.com/a\nrequire example.com/b v1.1.0\n",
		"example.com/a@v1.0.0/sub/x.go":     "package sub",
		"example.com/b@v1.1.0/go.mod":       "module example.com/b\n",
		"example.com/b@v1.2.0/go.mod":       "module example.com/b\n",
		"example.com/c@v1.0.0/go.mod":       "module example.com/c\nrequire example.com/b v1.2.0\n",
		"example.com/b/v2@v2.0.0/go.mod":    "module example.com/b/v2\n",
		"example.com/b/v2@v2.0.0/in/x.go":   "package in",
		"example.com/e@v1.9.0/go.mod":       "module example.com/e\n",
		"example.com/e/x@v1.9.0/go.mod":     "module example.com/e/x\n",
		"example.com/e/x@v1.9.0/y/z/z.go":   "package z",
		"example.com/renamed@v1.0.0/go.mod": "module example.com/other\n",
		"example.com/future@v1.0.0/go.mod":  "module example.com/future\ngo 1.99\n",
		"example.com/later@v1.0.0/go.mod":   "module example.com/later\nrequire example.com/future v1.0.0\n",
	}))
	m, err := s.Get(ctx, "example.com/a@v1.0.0")
	if err != nil || m.String() != "example.com/a@v1.0.0" {
		t.Fatalf("got %v, %v", m, err)
	}
	if _, err := s.Get(ctx, "example.com/b/v2@v2.0.0"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"example.com/a":       "example.com/a@v1.0.0",
		"example.com/a/sub":   "example.com/a@v1.0.0/sub",
		"example.com/b":       "example.com/b@v1.2.0",
		"example.com/b/v2/in": "example.com/b/v2@v2.0.0/in",
		"example.com/a/none":  "", // a PackageError
		"example.com/d":       "",
		"fmt":                 "",
	} {
		p, ok, err := s.Find(ctx, path)
		if err != nil && !errors.As(err, new(*module.PackageError)) || ok != (want != "") || ok && !strings.HasSuffix(filepath.ToSlash(p.Dir), want) {
			t.Errorf("%s: got %v, %v, %v, want %s", path, p, ok, err, want)
		}
	}
	if m, err := s.Get(ctx, "example.com/a"); err != nil || m.Version != "v1.9.0" {
		t.Errorf("the latest is %v, %v", m, err)
	}
	if p, _, _ := s.Find(ctx, "example.com/b"); p.Module.Version != "v1.1.0" {
		t.Errorf("without c, b is %v", p.Module)
	}
	for query, want := range map[string]string{
		"example.com/a/sub@v1.0.0":     "example.com/a@v1.0.0",
		"example.com/b/v2/in@v2.0.0":   "example.com/b/v2@v2.0.0",
		"example.com/e/x/y/z":          "example.com/e/x@v1.9.0",
		"example.com/e/x/none@v1.9.0":  "! module example.com/e/x@v1.9.0 has no package example.com/e/x/none",
		"example.com/a/none@v1.0.0":    "! module example.com/a@v1.0.0 has no package example.com/a/none",
		"example.com/later@v1.0.0":     "! example.com/future@v1.0.0/go.mod:2: it needs Go 1.99, but cells run with " + strings.Fields(runtime.Version())[0] + ": update Quern, or use an older version of the module",
		"example.com/renamed/p@v1.0.0": "! example.com/renamed@v1.0.0: its go.mod declares the module example.com/other; use that path, if it is the one that you want",
	} {
		m, err := s.Get(ctx, query)
		got := m.String()
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	if m, ok := s.Of("example.com/e/x/y/z"); !ok || m.String() != "example.com/e/x@v1.9.0" {
		t.Errorf("a package is of %v, %v", m, ok)
	}
	if m, ok := s.Of("example.com"); ok {
		t.Errorf("no module is %v", m)
	}
	s.Prefer(map[string]string{"example.com/a": "v1.0.0"})
	if m, err := s.Get(ctx, "example.com/a/sub"); err != nil || m.Version != "v1.0.0" {
		t.Errorf("the preferred version is %v, %v", m, err)
	}
	for _, query := range []string{"example.com/a@v3", "example.com/none@v1.0.0", "", "../x", "fmt@v1.0.0"} {
		if _, err := s.Get(ctx, query); err == nil {
			t.Errorf("%q: no error", query)
		}
	}
}

// TestGetOfNoModule says that a path is an error if no beginning of it can be that of a module.
func TestGetOfNoModule(t *testing.T) {
	t.Parallel()
	s := module.New(newRegistry(t, nil))
	m, err := s.Get(t.Context(), "Example.com/a")
	if want := `"Example.com/a" is not a module: malformed module path "Example.com/a": invalid char 'E' in first path element`; err == nil || err.Error() != want {
		t.Errorf("got %v, %v; want %s", m, err, want)
	}
}
