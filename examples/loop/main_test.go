package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-epochs", "12"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "epoch 12: loss 0.") || !strings.Contains(out.String(), "accuracy 9") {
		t.Errorf("the output is:\n%s", &out)
	}
	var number *tensor.NonFiniteError
	if err := run(t.Context(), &out, []string{"-rate", "1e38"}); !errors.As(err, &number) {
		t.Errorf("an impossible learning rate: %v", err)
	}
}
