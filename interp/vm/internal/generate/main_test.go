package main

import (
	"go/format"
	"os"
	"path/filepath"
	"testing"
)

// TestCurrent checks that the files in the package are up to date.
func TestCurrent(t *testing.T) {
	for name, text := range files() {
		want, err := format.Source([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(want) {
			t.Errorf("%s is stale: run go generate ./interp/vm", name)
		}
	}
}
