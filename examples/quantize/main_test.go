package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prune"
	"github.com/quernlab/quern/accel/quantize"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	path := filepath.Join(t.TempDir(), "digits.safetensors")
	if err := run(t.Context(), &out, []string{"-epochs", "2", "-save", path}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"58 of 106 outputs are left", "of the operations remain", "times smaller", "model written to"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("%q is missing in\n%s", word, &out)
		}
	}
	_, test, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	// The file has a model with half of the filters.
	smaller := nn.Sequential(
		nn.Conv2D(16, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(32, 3, nn.Same()), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dense(10),
	)
	loaded, err := quantize.Load(path, smaller)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := accel.Evaluate(t.Context(), loaded, test); err != nil || result.Accuracy() < 0.8 {
		t.Errorf("%v, %v", result, err)
	}
	var sparsity *prune.SparsityError
	if err := run(t.Context(), &out, []string{"-epochs", "1", "-cut", "1"}); !errors.As(err, &sparsity) {
		t.Errorf("pruning of all filters: %v", err)
	}
}
