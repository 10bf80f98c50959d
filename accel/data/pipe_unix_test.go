//go:build unix

package data

import (
	"syscall"
	"testing"
)

// pipe makes a file that a reader waits for.
func pipe(t *testing.T, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}
