//go:build !unix

package trust

import "path/filepath"

// File reports whether a path is absolute.
func File(path string) error {
	if !filepath.IsAbs(path) {
		return &Error{Path: path, Reason: "is not an absolute path"}
	}
	return nil
}

// Dir reports whether a path is absolute.
func Dir(path string) error { return File(path) }
