package lower_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTable checks which literals are built when the cell is lowered.
func TestTable(t *testing.T) {
	t.Parallel()
	list := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+", ", i)
		}
		return b.String()
	}
	for _, row := range []struct {
		name, cell string
		want       bool
	}{
		{"large", "x := []int{" + list("%d", 32) + "}", true},
		{"small", "x := []int{" + list("%d", 31) + "}", false},
		{"nested", "x := [][2]int{" + list("{%d, 1}", 16) + "}", true},
		{"address", "x := &[]int{" + list("%d", 40) + "}", true},
		{"map", "x := map[string]int{" + list(`"%d": 1`, 40) + "}", true},
		{"interfaces", "x := []any{" + list("%d", 40) + "}", false},
		{"calls", "x := []int{" + list("%d", 40) + "len([]int{})}", false},
	} {
		s := newSession(t)
		if err := s.run(row.cell); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		code := s.units[0].Machine.Disassemble()
		if got := strings.Contains(code, "table "); got != row.want {
			t.Errorf("%s: built as a table: %v, want %v\n%s", row.name, got, row.want, code)
		}
	}
}
