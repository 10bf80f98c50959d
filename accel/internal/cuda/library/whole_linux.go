//go:build cgo

package library

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
)

// whole looks at a library and its parts.
func (l *Library) whole(path string) error {
	parts := []string{path}
	if l.parts != "" {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(path), l.parts))
		if err == nil { // or the folder's name is a pattern
			parts = append(parts, found...)
		}
	}
	for _, p := range parts {
		if err := whole(p); err != nil {
			return err
		}
	}
	return nil
}

// whole gives a [*LoadError] for a file that ends before its parts do, as one of a
// broken download: the loader would map it, and the process die at the first look
// beyond the end.
func whole(path string) error {
	refused := func(format string, args ...any) error {
		return &LoadError{Path: path, Reason: fmt.Sprintf(format, args...)}
	}
	info, err := os.Stat(path)
	if err != nil {
		return refused("%v", err)
	}
	f, err := elf.Open(path)
	if err != nil {
		return refused("is no whole library (%v): install it again", err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(info.Size()) {
			return refused("has %d bytes of at least %d: install it again", info.Size(), p.Off+p.Filesz)
		}
	}
	return nil
}
