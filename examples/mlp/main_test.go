package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	path := filepath.Join(t.TempDir(), "digits.safetensors")
	if err := run(t.Context(), &out, []string{"-epochs", "3", "-save", path}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"9610 parameters", "3 epochs", "accuracy 9", "weights written to"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q:\n%s", want, &out)
		}
	}
	f, err := nn.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Names()) != 4 {
		t.Errorf("the file has %v", f.Names())
	}
}
