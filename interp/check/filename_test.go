package check

import "testing"

func TestFilename(t *testing.T) {
	t.Parallel()
	for number, want := range map[int]string{1: "cell[1]", 30: "cell[30]", Uncounted: "cell[1000000000]", Uncounted + 1: "uncounted[1]", Uncounted + 77: "uncounted[77]"} {
		name := Filename(number)
		if back, ok := FileNumber(name); name != want || !ok || back != number {
			t.Errorf("%d: %s, and back %d, %t", number, name, back, ok)
		}
	}
	for _, name := range []string{"", "a.go", "generic/slices.go"} {
		if number, ok := FileNumber(name); ok {
			t.Errorf("%q is of cell %d", name, number)
		}
	}
}
