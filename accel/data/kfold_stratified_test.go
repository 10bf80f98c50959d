package data_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// TestStratifiedGroupKFold compares the parts with those of scikit-learn 1.9, for groups whose numbers of
// examples in the three classes have different spreads, so that the seed changes only the order within
// parts:
//
//	StratifiedGroupKFold(4).split(x, y, groups)
func TestStratifiedGroupKFold(t *testing.T) {
	var examples [][]float32
	var labels []int
	var groups []string
	for g, counts := range [][]int{{9, 1, 0}, {2, 7, 1}, {0, 3, 12}, {1, 1, 3}, {15, 2, 5}, {4, 4, 9}, {0, 0, 6}, {3, 11, 0}, {8, 0, 7}, {2, 3, 1}, {7, 0, 1}, {1, 16, 2}} {
		for class, n := range counts {
			for range n {
				examples, labels, groups = append(examples, []float32{float32(g)}), append(labels, class), append(groups, fmt.Sprint(g))
			}
		}
	}
	set, err := data.FromSlices(examples, labels)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1 3 4", "0 2 9", "5 7 8", "6 10 11"}
	for seed := range uint64(5) {
		folds, err := set.StratifiedGroupKFold(4, seed, groups)
		if err != nil {
			t.Fatal(err)
		}
		for p, f := range folds {
			has := map[int]bool{}
			for i := range f.Validation.Len() {
				has[int(f.Validation.Example(i)[0])] = true
			}
			for i := range f.Train.Len() {
				if has[int(f.Train.Example(i)[0])] {
					t.Fatalf("seed %d, part %d: a group is in both", seed, p)
				}
			}
			if f.Train.Len()+f.Validation.Len() != len(labels) {
				t.Errorf("seed %d, part %d: %d and %d of %d examples", seed, p, f.Train.Len(), f.Validation.Len(), len(labels))
			}
			var parts []string
			for g := range 12 {
				if has[g] {
					parts = append(parts, fmt.Sprint(g))
				}
			}
			if got := strings.Join(parts, " "); got != want[p] {
				t.Errorf("seed %d, part %d has the groups %s, want %s", seed, p, got, want[p])
			}
		}
	}
	var split *data.SplitError
	if _, err := set.StratifiedGroupKFold(13, 1, groups); !errors.As(err, &split) || split.Have != 12 {
		t.Errorf("fewer groups than parts: %v", err)
	}
	if _, err := set.StratifiedGroupKFold(4, 1, slices.Clone(groups[1:])); err == nil {
		t.Error("a group is missing, but there is no error")
	}
}
