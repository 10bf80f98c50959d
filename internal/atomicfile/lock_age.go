//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"io"
	"os"
	"time"
)

// lock does nothing: removeAbandoned uses the age of a file.
func lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// abandonedAfter is longer than writing any file takes.
const abandonedAfter = 24 * time.Hour

// removeAbandoned removes a temporary file or directory that has not been written to for
// abandonedAfter.
func removeAbandoned(name string) {
	if info, err := os.Lstat(name); err == nil && (info.Mode().IsRegular() || info.IsDir()) && time.Since(info.ModTime()) > abandonedAfter {
		os.RemoveAll(name)
	}
}
