package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// TestFresh compares the list with the standard library of the Go release that it names.
func TestFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source of the standard library")
	}
	have, err := os.ReadFile(filepath.Join("..", "..", listFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(have, []byte(" "+runtime.Version()+" ")) {
		testenv.Optional(t, "the list is of another Go release than %s", runtime.Version())
	}
	want, err := list()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not that of %s: run go run ./internal/asserted in interp", listFile, runtime.Version())
	}
}
