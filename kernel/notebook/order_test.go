package notebook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDisorders has the execution counts of cells, each with outputs unless it ends in a dot; ~ is a cell that is not run.
func TestDisorders(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ counts, want string }{
		{"", ""},
		{"1 2 3", ""},
		{"1. 2. 3.", ""},
		{"3. 1. 0.", ""}, // nothing is saved
		{"0 0 0", ""},    // the counts have been removed
		{"2 5. 9", ""},
		{"1 ~ 2 ~", ""},
		{"1. 2 0. 0.", ""}, // the last ones have not run
		{"1. 3. 2", "3: ran as [2], before cell 2 above it, which ran as [3]"},
		{"4. 2 3 5", "2: ran as [2], before cell 1 above it, which ran as [4]; 3: ran as [3], before cell 1 above it, which ran as [4]"},
		{"1 2 1 2", "3: ran as [1], before cell 2 above it, which ran as [2]; 4: ran as [2], like cell 2 above it: the outputs are those of several runs"},
		{"1 0. 2", "2: did not run, but cell 3 below it did"},
		{"1 0", "2: has outputs, but no execution count"},
	} {
		n := &Notebook{}
		for _, count := range strings.Fields(row.counts) {
			c := &Cell{Type: "code", Source: "1", Outputs: []Output{{}}}
			if _, err := fmt.Sscan(strings.TrimSuffix(count, "."), &c.Count); err != nil {
				c.Outputs, c.Source = nil, "~"
			}
			if strings.HasSuffix(count, ".") {
				c.Outputs = nil
			}
			n.Cells = append(n.Cells, c, &Cell{Type: "markdown", Source: "a"}, &Cell{Type: "code", Source: "\n"})
		}
		var got []string
		for _, d := range n.Disorders(func(c *Cell) bool { return c.Source != "~" }) {
			got = append(got, fmt.Sprintf("%d: %s", n.Numbers()[d.Cell], d.What))
		}
		if want := strings.Split(row.want, "; "); !slices.Equal(got, slices.DeleteFunc(want, func(s string) bool { return s == "" })) {
			t.Errorf("%s:\n got %s\nwant %s", row.counts, strings.Join(got, "; "), row.want)
		}
	}
}
