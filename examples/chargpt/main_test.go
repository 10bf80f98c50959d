package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	args := []string{"-steps", "20", "-width", "32", "-blocks", "1", "-length", "16", "-letters", "40", "-prompt", "The whale"}
	if err := run(t.Context(), &out, args); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "20 steps") || !strings.Contains(out.String(), "\nThe whale") {
		t.Errorf("the output is:\n%s", &out)
	}
	if err := run(t.Context(), &out, []string{"-prompt", "鯨"}); err == nil {
		t.Error("a prompt with characters missing from the text is accepted")
	}
}
