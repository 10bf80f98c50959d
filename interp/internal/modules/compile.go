package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/internal/harness"
)

// buildLimit is how long Go may take to download and compile the modules of a program.
const buildLimit = 9 * time.Minute

// environment makes Go and the session use the modules of one program only, without cgo.
var environment = []string{"GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0"}

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
	e, err := harness.Run(ctx, buildLimit, dir, environment, "go", "build", "-ldflags=-s -w", "-o", "program.exe", ".")
	if err != nil {
		return "", err
	}
	if e.Status != 0 || e.Timeout {
		return "", fmt.Errorf("go build: %s", e.Output)
	}
	program, work := filepath.Join(dir, "program.exe"), filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return "", err
	}
	e, err = harness.Run(ctx, limit, work, environment, program)
	if err != nil {
		return "", err
	}
	if e.Status != 0 || e.Timeout {
		return "", fmt.Errorf("the compiled program failed:\n%s", e.Output)
	}
	return e.Output, nil
}
