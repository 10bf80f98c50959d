package module_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp/module"
)

// TestNetworkHint gets a module by a proxy that nobody serves, with and without the go command.
func TestNetworkHint(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	for name, source := range map[string]func() module.Source{
		"proxy": func() module.Source { return module.NewProxy() }, // reads the environment
		"go":    func() module.Source { return module.GoCommand{} },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "go" && !module.HasGoCommand() {
				testenv.Missing(t, "no go command")
			}
			t.Setenv("GOMODCACHE", t.TempDir())
			t.Setenv("GOSUMDB", "off")
			t.Setenv("GOPROXY", dead.URL)
			_, err := module.New(source()).Get(t.Context(), "example.com/upper")
			if err == nil || !strings.Contains(err.Error(), dead.URL+"/example.com/upper/@v/list") || !strings.Contains(err.Error(), "set GOPROXY to") {
				t.Errorf("got %v", err)
			}
			t.Setenv("GOPROXY", "file://"+filepath.ToSlash(t.TempDir()))
			if _, err := module.New(source()).Get(t.Context(), "example.com/upper"); err == nil || strings.Contains(err.Error(), "set GOPROXY to") {
				t.Errorf("of a proxy without the module: got %v", err)
			}
		})
	}
}

// The error names a module cache that is not writable, as in a read-only home directory.
func TestReadOnlyCache(t *testing.T) {
	if !module.HasGoCommand() {
		testenv.Missing(t, "no go command")
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxyFolder(t)))
	t.Setenv("GOSUMDB", "off")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMODCACHE", filepath.Join(file, "modules"))
	_, err := module.New(module.GoCommand{}).Get(t.Context(), "example.com/Upper@v1.0.0")
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "set GOMODCACHE") {
		t.Errorf("got %v", err)
	}
}
