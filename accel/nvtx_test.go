//go:build linux && cgo && !race

package accel_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/testenv"
)

// TestWatchedChild is the program that TestNVTX runs under a profiler.
func TestWatchedChild(t *testing.T) {
	device := os.Getenv("QUERN_TEST_WATCHED")
	if device == "" {
		t.Skip("is run by TestNVTX")
	}
	train, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	model := nn.Sequential(nn.Flatten(), nn.Dense(12), nn.ReLU(), nn.Dense(10))
	fit := func(epochs int) {
		if _, err := accel.Fit(t.Context(), model, train.First(32), accel.Epochs(epochs), accel.BatchSize(16), accel.Quiet(), accel.On(device)); err != nil {
			t.Fatal(err)
		}
	}
	fit(1)
	// A profile of our own works as without a profiler.
	r, err := prof.Run(t.Context(), func() error {
		defer prof.Span("of the profile")()
		_, err := accel.Predict(t.Context(), model, tensor.Ones(4, 1, 8, 8))
		return err
	}, prof.Warmup(1), prof.Active(1))
	if err != nil || len(r.Ops) == 0 {
		t.Fatal(err, r)
	}
	stop, err := prof.NVTX()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prof.NVTX(); !errors.Is(err, prof.ErrBusy) {
		t.Errorf("ranges reported twice: %v", err)
	}
	prof.Span("my own")()
	stop()
	prof.Span("after")()
}

// A profiler that is attached to a training receives a range for each step, with ranges for
// phases, layers and ops in them, in the order in which the model calls them.
func TestNVTX(t *testing.T) {
	cc := testenv.Command(t, "cc")
	tool := filepath.Join(t.TempDir(), "tool.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", tool, "internal/nvtx/testdata/tool.c").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	for _, device := range []string{"cpu", "simulated"} {
		log := filepath.Join(t.TempDir(), "log")
		child := exec.Command(os.Args[0], "-test.run", "^TestWatchedChild$")
		child.Env = append(os.Environ(), "QUERN_TEST_WATCHED="+device, "NVTX_INJECTION64_PATH="+tool, "NVTX_TEST_LOG="+log)
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		// Each range is written as a path with the ranges around it.
		var paths []string
		var open []string // the open ranges, the outermost first
		ids := []string{}
		for line := range strings.Lines(string(text)) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if word == "begin" {
				id, name, _ := strings.Cut(rest, " ")
				open, ids = append(open, name), append(ids, id)
				paths = append(paths, strings.Join(open, " > "))
				continue
			}
			if len(ids) == 0 || ids[len(ids)-1] != rest {
				t.Fatalf("%s: range %s ends within %q", device, rest, open)
			}
			open, ids = open[:len(open)-1], ids[:len(ids)-1]
		}
		if len(open) > 0 {
			t.Errorf("%s: %q never end", device, open)
		}
		for _, want := range []string{
			"step 1", "step 2", "step 1 > forward > 1 Dense(12) > Linear", "step 2 > forward > 3 Dense(10)", "step 2 > backward > 3 Dense(10) > MatMul", "step 2 > update > AdamW", "my own",
		} {
			if !slices.ContainsFunc(paths, func(p string) bool { return p == want || strings.HasPrefix(p, want) }) {
				t.Errorf("%s: no range %q in\n%s", device, want, strings.Join(paths, "\n"))
			}
		}
		for _, p := range paths {
			if strings.Contains(p, "step 3") || strings.Contains(p, "of the profile") || strings.Contains(p, "after") {
				t.Errorf("%s: %q", device, p)
			}
		}
	}
}

// Without a profiler there are no ranges, and the calls cost nothing.
func TestNVTXWithoutATool(t *testing.T) {
	if os.Getenv("NVTX_INJECTION64_PATH") != "" {
		testenv.Missing(t, "a tool watches the tests")
	}
	stop, err := prof.NVTX()
	if !errors.Is(err, prof.ErrNoTool) || prof.ToolAttached() {
		t.Errorf("%v", err)
	}
	stop()
}
