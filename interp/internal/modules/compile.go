package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// buildLimit is how long Go may take to download and compile the modules of a program.
const buildLimit = 9 * time.Minute

// compiled returns what a program prints when Go compiles it, without cgo.
func compiled(ctx context.Context, p program, limit time.Duration) (output string, err error) {
	dir, err := os.MkdirTemp("", "modules")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var goMod strings.Builder
	fmt.Fprintf(&goMod, "module program\n\ngo 1.26.0\n\n")
	for _, m := range p.gets {
		fmt.Fprintf(&goMod, "require %s %s\n", m.Path, m.Version)
	}
	for name, text := range map[string]string{"go.mod": goMod.String(), "main.go": p.source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	e, err := execute(ctx, buildLimit, dir, "go", "build", "-ldflags=-s -w", "-o", "program.exe", ".")
	if err != nil {
		return "", err
	}
	if e.status != 0 || e.timeout {
		return "", fmt.Errorf("go build: %s", e.output)
	}
	program, work := filepath.Join(dir, "program.exe"), filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return "", err
	}
	e, err = execute(ctx, limit, work, program)
	if err != nil {
		return "", err
	}
	if e.status != 0 || e.timeout {
		return "", fmt.Errorf("the compiled program failed:\n%s", e.output)
	}
	return e.output, nil
}
