//go:build cgo

package library

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/quernlab/quern/internal/trust"
)

// whole checks that a library, and the parts of it that it loads itself, are complete files.
func (l *Library) whole(p Location) error {
	if err := whole(p.Path); err != nil || l.parts == "" {
		return err
	}
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(p.Path), l.parts))
	if err != nil {
		return nil // the name of the folder is an invalid pattern
	}
	for _, part := range parts {
		if p.From != fromLoader && p.From != fromProcess {
			if err := trust.File(part); err != nil {
				return &LoadError{Path: part, Reason: err.Error()}
			}
		}
		if err := whole(part); err != nil {
			return err
		}
	}
	return nil
}

// machines are what files of this architecture say they are for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// named returns the name of an architecture.
func named(m elf.Machine) string {
	switch m {
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_AARCH64:
		return "ARM, 64 bits"
	}
	return m.String()
}

// whole returns a [*LoadError] for a truncated file, such as an incomplete download: the
// dynamic loader would map it, and the process would die at the first access after its end.
func whole(path string) error {
	unusable := func(format string, args ...any) error {
		return &LoadError{Path: path, Reason: fmt.Sprintf(format, args...)}
	}
	info, err := os.Stat(path)
	if err != nil {
		return unusable("%v", err)
	}
	f, err := elf.Open(path)
	if err != nil {
		return unusable("is not a complete library (%v): install it again", err)
	}
	defer f.Close()
	// The dynamic loader would report that such a file does not exist.
	if own, known := machines[runtime.GOARCH]; known && f.Machine != own {
		return unusable("is for %s, and this machine is %s", named(f.Machine), named(own))
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(info.Size()) {
			return unusable("has %d of at least %d bytes: install it again", info.Size(), p.Off+p.Filesz)
		}
	}
	return nil
}
