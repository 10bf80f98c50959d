package lower

import (
	"fmt"
	"slices"
	"testing"
)

// TestDependencyOrder checks that each group comes after those that it uses, and that the nodes of a
// group use each other.
func TestDependencyOrder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		uses [][]int
		want string
	}{
		{nil, "[]"},
		{[][]int{{}, {}}, "[[0] [1]]"},
		{[][]int{{1}, {2}, {}}, "[[2] [1] [0]]"},
		{[][]int{{1}, {0}}, "[[0 1]]"},
		{[][]int{{1, 2}, {3}, {3}, {1}, {0}}, "[[1 3] [2] [0] [4]]"},
		{[][]int{{1}, {2}, {0, 3}, {4}, {3}}, "[[3 4] [0 1 2]]"},
	} {
		groups := inDependencyOrder(row.uses)
		for _, g := range groups {
			slices.Sort(g)
		}
		if got := fmt.Sprint(groups); got != row.want {
			t.Errorf("%v: %s, want %s", row.uses, got, row.want)
		}
	}
	// A long chain does not overflow the stack, and takes linear time.
	const n = 100_000
	chain := make([][]int, n)
	for i := range n - 1 {
		chain[i] = []int{i + 1}
	}
	if groups := inDependencyOrder(chain); len(groups) != n || groups[0][0] != n-1 {
		t.Errorf("%d groups of a chain", len(groups))
	}
}
