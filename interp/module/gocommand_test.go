package module_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
	"github.com/quernlab/quern/interp/module"
)

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
