package check

import "testing"

func TestIsComplete(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in string
		want     Completeness
		depth    int
	}{
		{"empty", "", Complete, 0},
		{"statement", "x := 1", Complete, 0},
		{"open block", "for i := 0; i < 3; i++ {", Incomplete, 1},
		{"open call in block", "func f() {\n\tg(1,", Incomplete, 2},
		{"operator", "x := 1 +", Incomplete, 0},
		{"selector", "fmt.", Incomplete, 0},
		{"raw string", "s := `a\nb", Incomplete, 0},
		{"raw string closed", "s := `a\nb`", Complete, 0},
		{"comment", "/* a", Incomplete, 0},
		{"wrong token", "x := := 1", Invalid, 0},
		{"closed too much", "f())", Invalid, 0},
		{"undefined is complete", "f(undefinedName)", Complete, 0},
		{"label alone", "loop:", Complete, 0},
		{"header", "if x := 1; x > 0 {", Incomplete, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got, depth := IsComplete(row.in); got != row.want || depth != row.depth {
				t.Errorf("%q: got %d with depth %d, want %d with %d", row.in, got, depth, row.want, row.depth)
			}
		})
	}
}
