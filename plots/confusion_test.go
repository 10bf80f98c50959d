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
