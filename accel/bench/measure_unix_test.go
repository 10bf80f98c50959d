//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
	o := options{device: "cpu", python: fakePython(t), names: []string{"mlp", "gemm-784"}, rounds: 1, slice: 0.001, limit: time.Minute}
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

// TestNeitherFramework measures Quern alone, beside a Python without any framework and one that
// does not exist.
func TestNeitherFramework(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(empty, []byte("#!/bin/sh\necho '{\"missing\": \"No module named '$2'\"}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, python := range []string{empty, filepath.Join(t.TempDir(), "none")} {
		r, err := measure(t.Context(), options{device: "cpu", python: python, names: []string{"gemm-784"}, rounds: 1, slice: 0.001, limit: time.Minute})
		if f := r.Figures["gemm-784"]; err != nil || len(f.Times) != 2 || len(f.Failed) > 0 {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

// TestProcessThatHangs ends a process that does not reply, and starts it again for the next request.
func TestProcessThatHangs(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python")
	text := `#!/bin/sh
while read -r line; do
	case $line in
	*'"run"'*) exec sleep 600 ;;
	*) echo '{"seconds": 1}' ;;
	esac
done
`
	if err := os.WriteFile(python, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	p := &process{options: options{python: python, limit: 50 * time.Millisecond}, framework: "torch"}
	if _, err := p.ask(t.Context(), request{Do: "run"}); err == nil || !strings.Contains(err.Error(), "no reply in 50ms") {
		t.Errorf("got %v", err)
	}
	p.limit = time.Minute
	if a, err := p.ask(t.Context(), request{Do: "drop"}); err != nil || a.Seconds != 1 {
		t.Errorf("got %+v, %v", a, err)
	}
	p.close()
}
