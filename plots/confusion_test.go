package plots

import (
	"strings"
	"testing"
)

func TestConfusion(t *testing.T) {
	pinned(t, "confusion", Confusion("Test set", []string{"cat", "dog", "horse"}, [][]int{{80, 18, 2}, {13, 83, 4}, {0, 0, 0}}))
}

func TestConfusionOfManyClasses(t *testing.T) {
	counts := make([][]int, 100)
	for i := range counts {
		counts[i] = make([]int, 100)
		counts[i][i] = 10
	}
	f := Confusion("many", nil, counts)
	saneSVG(t, f)
	if n := strings.Count(f.SVG(), ">100<"); n != 0 {
		t.Errorf("%d cells that are too small have words", n)
	}
}

func TestConfusionShowsLongNames(t *testing.T) {
	t.Parallel()
	names := []string{"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"}
	f := Confusion("", names, nil)
	saneSVG(t, f)
	for _, name := range names {
		if n := strings.Count(f.SVG(), ">"+name+"<"); n != 2 {
			t.Errorf("%s is there %d times, want it at its row and its column", name, n)
		}
	}
}
