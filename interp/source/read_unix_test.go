//go:build unix

package source

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNamedPipe says that an entry of a directory that would never end to be read is no file of the package.
func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := readDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "a.go" {
		t.Errorf("%v, %v", entries, err)
	}
}
