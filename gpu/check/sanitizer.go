package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sanitizers are the tools of compute-sanitizer, the most useful first.
var sanitizers = []string{"memcheck", "racecheck", "synccheck"}

// sanitize runs the ops under compute-sanitizer, if it is installed.
func sanitize(ctx context.Context, o options, r *report, out io.Writer) error {
	program := findSanitizer()
	if program == "" {
		fmt.Fprintf(out, "\ncompute-sanitizer is not installed: skipped\n")
		return nil
	}
	fmt.Fprintf(out, "\nops under %s\n", program)
	slow := o
	slow.pieceLimit = 10 * o.pieceLimitOf()
	return r.each(ctx, slow, sanitizers, func(i int) error {
		slow.from = 0
		folder, err := os.MkdirTemp("", "gpu-check")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		command, _, err := slow.process(ctx, "ops", filepath.Join(folder, "part.json"))
		if err != nil {
			return err
		}
		command.Args = append([]string{program, "--tool", sanitizers[i], "--error-exitcode", "9", command.Path}, command.Args[1:]...)
		command.Path = program
		var said tail
		command.Stdout, command.Stderr = &said, &said
		failed := command.Run()
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		words := fmt.Sprintf("%s: %s", sanitizers[i], lines[len(lines)-1])
		fmt.Fprintln(out, words)
		r.Sanitizer = append(r.Sanitizer, words)
		if failed != nil {
			return fmt.Errorf("compute-sanitizer %s: %w: %s", sanitizers[i], failed, said.String())
		}
		return nil
	})
}

// findSanitizer returns the path of compute-sanitizer on PATH or in a CUDA toolkit, or "" if
// there is none.
func findSanitizer() string {
	for _, name := range []string{"compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer", "/opt/cuda/bin/compute-sanitizer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
