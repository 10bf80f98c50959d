package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-epochs", "8", "-experts", "2"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gate.weight [2 64]", "experts.1.2.bias [10]", "accuracy 9"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q:\n%s", want, &out)
		}
	}
	if err := run(t.Context(), &out, []string{"-experts", "0"}); err == nil {
		t.Error("zero experts are accepted")
	}
}
