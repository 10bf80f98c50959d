package interp_test

import (
	"strings"
	"testing"
)

// TestNegativeShiftCount shifts by a variable that begins at a constant and gets a negative value from a range.
func TestNegativeShiftCount(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	got := n.run("func f() int {\n\tv := 1\n\tfor _, v = range []int{-1} {\n\t}\n\treturn 1 << v\n}\nfmt.Println(f())")
	if !strings.Contains(got, "negative shift amount") {
		t.Errorf("got %q, want a panic", got)
	}
}
