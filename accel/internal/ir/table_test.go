package ir

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestTableIsComplete looks for the Name methods of all op files.
func TestTableIsComplete(t *testing.T) {
	known := map[string]bool{}
	for _, op := range Table() {
		if known[op.Name()] {
			t.Errorf("%s is twice in the table", op.Name())
		}
		known[op.Name()] = true
	}
	files, err := filepath.Glob("op_*.go")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d op files: %v", len(files), err)
	}
	name := regexp.MustCompile(`\) Name\(\) string\s*{ return "(\w+)" }`)
	found := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s: %s is not in the table", f, m[1])
			}
		}
	}
	if found != len(known) {
		t.Errorf("%d ops in files, %d in the table", found, len(known))
	}
}
