package module_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp/module"
)

// TestRetracted says that "latest" is not a retracted version, and that a retracted version that
// is asked for is reported, with the go command and without.
func TestRetracted(t *testing.T) {
	const path = "example.com/tool"
	const newest = `module example.com/tool

// Wrong results
// for negative numbers.
retract [v1.1.0, v1.2.0]

retract (
	v1.3.0
	v1.4.0 // Published by mistake, only for these lines.
)
`
	root := t.TempDir()
	list := ""
	for version, goMod := range map[string]string{
		"v1.0.0": "module example.com/tool\n", "v1.1.5": "module example.com/tool\n", "v1.3.0": "module example.com/tool\n",
		"v1.4.0": newest, "v1.5.0-rc.1": "module example.com/tool\n",
	} {
		list += version + "\n"
		files := moduleFiles(t, path, version, goMod, map[string]string{"@/go.mod": goMod, "@/x.go": "package tool\n"})
		for name, text := range files {
			if filepath.Base(name) == "list" {
				text = ""
			}
			name = filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(root, "example.com/tool/@v/list"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer server.Close()
	for name, source := range map[string]func() module.Source{
		"proxy":      func() module.Source { return module.NewProxy() },
		"go command": func() module.Source { return module.GoCommand{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOPROXY", server.URL)
			t.Setenv("GONOPROXY", "none")
			t.Setenv("GOSUMDB", "off")
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			if name == "go command" {
				if !module.HasGoCommand() {
					testenv.Missing(t, "no go command")
				}
				t.Setenv("GOMODCACHE", t.TempDir())
				t.Cleanup(func() {
					if out, err := exec.Command("go", "clean", "-modcache").CombinedOutput(); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				})
			}
			for _, row := range []struct{ query, version, reason string }{
				{path, "v1.0.0", ""},
				{path + "@v1", "v1.0.0", ""},
				{path + "@v1.1.5", "v1.1.5", "Wrong results for negative numbers."},
				{path + "@v1.3.0", "v1.3.0", "retracted by module author"},
				{path + "@v1.4.0", "v1.4.0", "Published by mistake, only for these lines."},
				{path + "@v1.0.0", "v1.0.0", ""},
				{path + "@v1.5.0-rc.1", "v1.5.0-rc.1", ""},
			} {
				s := module.New(source())
				m, err := s.Get(t.Context(), row.query)
				if want := (xmodule.Version{Path: path, Version: row.version}); m != want || err != nil || s.Retracted(m) != row.reason {
					t.Errorf("%s: got %v, %q, %v; want %v, %q", row.query, m, s.Retracted(m), err, want, row.reason)
				}
			}
		})
	}
}
