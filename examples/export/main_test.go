package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// TestRun trains, exports and, if Python has onnxruntime, checks that Python computes the same.
func TestRun(t *testing.T) {
	var out strings.Builder
	folder := t.TempDir()
	if err := run(t.Context(), &out, []string{"-folder", folder, "-epochs", "2"}); err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(out.String(), "the first digits: ")
	answer, lines, found := strings.Cut(after, "\n")
	if !ok || !found || len(strings.Fields(answer)) != 20 || !strings.Contains(lines, "onnxruntime.InferenceSession") {
		t.Fatalf("the output is:\n%s", &out)
	}
	for _, name := range []string{"digits.onnx", "digits.raw"} {
		if s, err := os.Stat(filepath.Join(folder, name)); err != nil || s.Size() < 20*64*4 {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	interpreter := filepath.Join("..", "..", ".venv", "bin", "python")
	if exec.Command(interpreter, "-c", "import numpy, onnxruntime").Run() != nil {
		testenv.Missing(t, "there is no Python with onnxruntime; make kernelspec sets one up in .venv")
	}
	path, err := filepath.Abs(interpreter)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, "-c", python)
	command.Dir = folder
	said, err := command.CombinedOutput()
	if err != nil || strings.TrimSpace(string(said)) != answer {
		t.Errorf("Python prints %q, %v, want %q", said, err, answer)
	}
}
