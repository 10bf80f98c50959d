package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestRun kills a training process, resumes the training here, and compares the weights with
// those of an uninterrupted training.
func TestRun(t *testing.T) {
	const variable = "EXAMPLE_RESUME"
	if file := os.Getenv(variable); file != "" { // the process to be killed
		if err := run(t.Context(), os.Stdout, []string{"-file", file, "-epochs", "100000"}); err != nil {
			t.Fatal(err)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "run.safetensors")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRun$")
	child.Env = append(os.Environ(), variable+"="+file)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was written")
		}
		runtime.Gosched()
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // the error says that it was killed

	weights := func(file string) string {
		var out strings.Builder
		if err := run(t.Context(), &out, []string{"-file", file, "-epochs", "4"}); err != nil {
			t.Fatal(err)
		}
		_, after, ok := strings.Cut(out.String(), "weights ")
		if !ok {
			t.Fatalf("the output is:\n%s", &out)
		}
		return after
	}
	// The learning-rate schedule ends with the last epoch, so the killed training must have as
	// many epochs; it starts again from its first four steps.
	stopped, stop := context.WithCancel(t.Context())
	short := filepath.Join(t.TempDir(), "short.safetensors")
	go func() {
		for _, err := os.Stat(short); err != nil && stopped.Err() == nil; _, err = os.Stat(short) {
			runtime.Gosched()
		}
		stop()
	}()
	var out strings.Builder
	if err := run(stopped, &out, []string{"-file", short, "-epochs", "4"}); err != nil {
		t.Fatal(err)
	}
	stop()
	if got, want := weights(short), weights(filepath.Join(t.TempDir(), "whole.safetensors")); got != want {
		t.Errorf("after an interrupt the weights are %swant %s", got, want)
	}
	out.Reset()
	if err := run(t.Context(), &out, []string{"-file", file, "-epochs", "1"}); err != nil || !strings.Contains(out.String(), "resumed after step") {
		t.Errorf("after a kill: %v\n%s", err, &out)
	}
}
