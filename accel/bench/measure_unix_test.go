//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePython writes a shell script that runs in place of a Python and returns its path. It
// has only the framework torch, whose losses it gets wrong, and which fails in eager mode.
func fakePython(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	text := `#!/bin/sh
if [ "$2" = jax ]; then echo '{"missing": "No module named jax"}'; exit; fi
while read -r line; do
	case $line in
	*'"versions"'*) echo '{"versions": {"torch": "1"}}' ;;
	*'"prepare"'*'"eager"'*) echo '{"error": "no memory"}' ;;
	*'"prepare"'*) echo '{"losses": [7, 7, 7, 7, 7]}' ;;
	*'"run"'*) echo '{"seconds": 1}' ;;
	*) echo '{}' ;;
	esac
done
`
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRunContinues measures beside a Python that lacks one framework, while the other one
// fails or computes something else.
func TestRunContinues(t *testing.T) {
	o := options{python: fakePython(t), names: []string{"mlp", "gemm-784"}, rounds: 1, slice: 0.001}
	r, err := measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Versions["torch"] != "1" || r.Versions["jax"] != "" {
		t.Errorf("the versions are %v", r.Versions)
	}
	f := r.Figures["mlp"]
	if f.Failed["torch-2-eager"] != "torch with 2 threads, prepare mlp eager: no memory" {
		t.Errorf("failed: %v", f.Failed)
	}
	if !strings.HasPrefix(f.Disagrees["torch-2-compile"], "the loss of step 1 is 7, that of quern-2 is ") {
		t.Errorf("disagrees: %v", f.Disagrees)
	}
	if len(f.Times) != 1 || f.Times["quern-2"].Median <= 0 {
		t.Errorf("the times are %v", f.Times)
	}
	if len(r.Figures["gemm-784"].Times) != 2 {
		t.Errorf("the benchmark after it has the times %v", r.Figures["gemm-784"].Times)
	}
}

// TestNeitherFramework expects an error for a Python without any framework.
func TestNeitherFramework(t *testing.T) {
	path := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '{\"missing\": \"No module named '$2'\"}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := measure(t.Context(), options{python: path, names: []string{"mlp"}, rounds: 1, slice: 0.001})
	if err == nil || !strings.Contains(err.Error(), "has neither torch nor jax") {
		t.Errorf("got %v", err)
	}
}
