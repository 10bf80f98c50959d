package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-epochs", "5"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 epochs", "accuracy 9", "is predicted as"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q:\n%s", want, &out)
		}
	}
}
