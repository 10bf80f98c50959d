package structure

import (
	"go/parser"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/architecture.md names every package, and no package that does not exist. The packages of interp/generic are
// named after those of the standard library for which they stand.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9_/]+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	packages, top := map[string]bool{}, map[string]bool{}
	for _, f := range files(t, parser.PackageClauseOnly) {
		if !strings.HasPrefix(f.folder, "interp/generic/") && !strings.HasPrefix(f.folder, "examples/prose/") {
			packages[f.folder] = true
		}
		first, _, _ := strings.Cut(f.folder, "/")
		top[first] = true
	}
	for p := range packages {
		if !named[p] {
			t.Errorf("docs/architecture.md does not name the package %s", p)
		}
	}
	for name := range named {
		first, _, below := strings.Cut(name, "/")
		info, err := os.Stat(filepath.Join(root, name))
		if below && top[first] && (err != nil || !info.IsDir()) {
			t.Errorf("docs/architecture.md names %s, which does not exist", name)
		}
	}
}
