package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"plain.go":             "// run\n\npackage main\n",
		"constrained.go":       "\n//go:build go1.1\n\n// run\n\npackage main\n",
		"elsewhere.go":         "//go:build never\n\n// run\n\npackage main\n",
		"arguments.go":         "// run arg1 arg2\n\npackage main\n",
		"several.go":           "// rundir\n\npackage ignored\n",
		"compiled.go":          "// errorcheck\n\n// run\n\npackage main\n",
		"text.out":             "// run\n",
		"sub/inner.go":         "// run\n\npackage main\n",
		"sub/several.dir/a.go": "// run\n\npackage main\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"constrained.go", "plain.go", "sub/inner.go"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if _, err := find(t.TempDir()); err == nil {
		t.Error("an empty folder is no error")
	}
}
