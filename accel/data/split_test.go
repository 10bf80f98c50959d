package data_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/option"
)

// sorted returns a data set whose example i has the value i, sorted by class, with these numbers
// of examples.
func sorted(t *testing.T, counts ...int) *data.Dataset {
	t.Helper()
	var examples [][]float32
	var labels []int
	for c, n := range counts {
		for range n {
			examples, labels = append(examples, []float32{float32(len(labels))}), append(labels, c)
		}
	}
	set, err := data.FromSlices(examples, labels)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// values returns the values of examples of one element, sorted.
func values(parts ...*data.Dataset) (all []int) {
	for _, s := range parts {
		for i := range s.Len() {
			all = append(all, int(s.Example(i)[0]))
		}
	}
	slices.Sort(all)
	return all
}

func requireAll(t *testing.T, n int, parts ...*data.Dataset) {
	t.Helper()
	for i, v := range values(parts...) {
		if v != i {
			t.Fatalf("example %d is not in one part: %v", i, values(parts...))
		}
	}
	if got := len(values(parts...)); got != n {
		t.Fatalf("the parts have %d examples, want %d", got, n)
	}
}

func TestStratifiedSplit(t *testing.T) {
	for _, row := range []struct {
		counts   []int
		fraction float64
		want     string // numbers of examples of the first part
	}{
		{[]int{10, 20, 30}, 0.8, "[8 16 24]"},
		{[]int{3, 3, 3}, 0.5, "[2 2 1]"},
		{[]int{5, 5, 2}, 0.9, "[4 4 1]"},
		{[]int{5, 0, 5}, 0.01, "[1 0 1]"},
		{[]int{7, 7}, 0.5, "[4 3]"},
	} {
		set := sorted(t, row.counts...)
		first, rest, err := set.StratifiedSplit(row.fraction, 1)
		if err != nil {
			t.Fatal(err)
		}
		requireAll(t, set.Len(), first, rest)
		got := first.Counts()
		if fmt.Sprint(got) != row.want {
			t.Errorf("%v of %v: got %v, want %s", row.fraction, row.counts, got, row.want)
		}
		for c, n := range row.counts {
			if exact := row.fraction * float64(n); n > 0 && (math.Abs(float64(got[c])-exact) > 1 || got[c] == 0 || got[c] == n) {
				t.Errorf("class %d has %d of %d examples", c, got[c], n)
			}
		}
		again, _, _ := set.StratifiedSplit(row.fraction, 1)
		if !slices.Equal(values(again), values(first)) {
			t.Error("the same seed gives another split")
		}
	}
	first, _, err := sorted(t, 50, 50).StratifiedSplit(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if changes := classChanges(first); changes < 10 {
		t.Errorf("the first part is sorted by class: the class changes %d times", changes)
	}
	var split *data.SplitError
	if _, _, err := sorted(t, 10, 1).StratifiedSplit(0.8, 1); !errors.As(err, &split) || split.Class != "1" || split.Have != 1 {
		t.Errorf("a class with one example: %v", err)
	}
	if _, _, err := sorted(t, 10).StratifiedSplit(1, 1); err == nil {
		t.Error("an empty part")
	}
}

func classChanges(set *data.Dataset) (n int) {
	for i := 1; i < set.Len(); i++ {
		if set.Label(i) != set.Label(i-1) {
			n++
		}
	}
	return n
}

func TestRandomSplit(t *testing.T) {
	set := sorted(t, 50, 50)
	first, rest := set.RandomSplit(0.7, 3)
	requireAll(t, 100, first, rest)
	if first.Len() != 70 || first.Counts()[1] < 20 {
		t.Errorf("%d examples, classes %v", first.Len(), first.Counts())
	}
	if inOrder, _ := set.Split(0.5); inOrder.Counts()[1] != 0 {
		t.Error("Split changes the order")
	}
}

// groupsOf names the group of each example: sizes[k] examples of group k.
func groupsOf(sizes ...int) (groups []string) {
	for k, n := range sizes {
		groups = append(groups, slices.Repeat([]string{fmt.Sprint("patient ", k)}, n)...)
	}
	return groups
}

func requireWhole(t *testing.T, groups []string, a, b *data.Dataset) {
	t.Helper()
	in := map[string]bool{}
	for _, i := range values(a) {
		in[groups[i]] = true
	}
	for _, i := range values(b) {
		if in[groups[i]] {
			t.Fatalf("%s is in both parts", groups[i])
		}
	}
}

func TestGroupSplit(t *testing.T) {
	set, groups := sorted(t, 50), groupsOf(10, 5, 5, 10, 10, 5, 5)
	for seed := range uint64(20) {
		first, rest, err := set.GroupSplit(0.8, seed, groups)
		if err != nil {
			t.Fatal(err)
		}
		requireAll(t, 50, first, rest)
		requireWhole(t, groups, first, rest)
		if first.Len() < 35 || first.Len() > 45 {
			t.Errorf("seed %d: %d examples, want about 40", seed, first.Len())
		}
	}
	for _, fraction := range []float64{0.001, 0.999} {
		first, rest, err := set.GroupSplit(fraction, 1, groups)
		if err != nil || first.Len() == 0 || rest.Len() == 0 {
			t.Errorf("%v: an empty part, %v", fraction, err)
		}
	}
	var split *data.SplitError
	if _, _, err := set.GroupSplit(0.5, 1, groupsOf(50)); !errors.As(err, &split) || split.Have != 1 {
		t.Errorf("one group: %v", err)
	}
	if _, _, err := set.GroupSplit(0.5, 1, nil); err == nil {
		t.Error("no groups")
	}
}

func TestKFold(t *testing.T) {
	set, groups := sorted(t, 12, 7, 5), groupsOf(4, 4, 4, 3, 3, 3, 3)
	for name, divide := range map[string]func() ([]data.Fold, error){
		"KFold":           func() ([]data.Fold, error) { return set.KFold(5, 1) },
		"StratifiedKFold": func() ([]data.Fold, error) { return set.StratifiedKFold(5, 1) },
		"GroupKFold":      func() ([]data.Fold, error) { return set.GroupKFold(5, 1, groups) },
	} {
		folds, err := divide()
		if err != nil || len(folds) != 5 {
			t.Fatalf("%s: %d folds, %v", name, len(folds), err)
		}
		var validation []*data.Dataset
		for _, f := range folds {
			requireAll(t, 24, f.Train, f.Validation)
			validation = append(validation, f.Validation)
			if n := f.Validation.Len(); name != "GroupKFold" && n != 4 && n != 5 {
				t.Errorf("%s: a part of %d examples", name, n)
			}
			if name == "GroupKFold" {
				requireWhole(t, groups, f.Train, f.Validation)
			}
			for c, want := range []float64{2.4, 1.4, 1} {
				if got := float64(f.Validation.Counts()[c]); name == "StratifiedKFold" && math.Abs(got-want) >= 1 {
					t.Errorf("class %d has %v examples in a part", c, got)
				}
			}
		}
		requireAll(t, 24, validation...)
	}
	var split *data.SplitError
	if _, err := set.StratifiedKFold(6, 1); !errors.As(err, &split) || split.Class != "2" || split.Want != 6 {
		t.Errorf("a class with fewer examples than parts: %v", err)
	}
	if _, err := set.GroupKFold(8, 1, groups); !errors.As(err, &split) || split.Have != 7 {
		t.Errorf("fewer groups than parts: %v", err)
	}
	if _, err := set.KFold(25, 1); err == nil {
		t.Error("more parts than examples")
	}
}

func TestWeightedRandomSampler(t *testing.T) {
	set := sorted(t, 900, 100)
	weights, err := set.BalancedWeights()
	if err != nil {
		t.Fatal(err)
	}
	weights[3] = 0
	count := func(epoch int) (classes [2]int, order []float32) {
		x, labels := read(t, set.Batches(64, data.Shuffle(5), data.Epoch(epoch), data.WeightedRandomSampler(weights)))
		for _, c := range labels {
			classes[c]++
		}
		return classes, x
	}
	classes, first := count(1)
	if classes[0]+classes[1] != 1000 || classes[0] < 430 || classes[0] > 570 {
		t.Errorf("classes %v, want about 500 each", classes)
	}
	if slices.Contains(first, 3) {
		t.Error("an example of weight 0 was drawn")
	}
	if _, again := count(1); !slices.Equal(first, again) {
		t.Error("the same epoch differs")
	}
	if _, other := count(2); slices.Equal(first, other) {
		t.Error("all epochs are alike")
	}
	for _, bad := range [][]float64{nil, {}, make([]float64, 1000), slices.Repeat([]float64{-1}, 1000), {1}, slices.Repeat([]float64{math.NaN()}, 1000)} {
		if err := option.CheckWeights(bad, 1000); err == nil {
			t.Errorf("weights %v are accepted", bad[:min(len(bad), 2)])
		}
	}
}

// TestRollingOrigin compares the folds with those of scikit-learn 1.9's TimeSeriesSplit(k, test_size=size, gap=gap).
func TestRollingOrigin(t *testing.T) {
	rows := make([][]float32, 10)
	for i := range rows {
		rows[i] = []float32{float32(i)}
	}
	set, err := data.FromTargets(rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	values := func(s *data.Dataset) (text string) {
		for i := range s.Len() {
			text += fmt.Sprint(s.Target(i)[0])
		}
		return text
	}
	for _, test := range []struct {
		k, size, gap int
		want         []string // training set, validation set
	}{
		{3, 2, 1, []string{"012", "45", "01234", "67", "0123456", "89"}},
		{3, 2, 0, []string{"0123", "45", "012345", "67", "01234567", "89"}},
		{9, 1, 0, []string{"0", "1", "01", "2", "012", "3", "0123", "4", "01234", "5", "012345", "6", "0123456", "7", "01234567", "8", "012345678", "9"}},
		{1, 9, 0, []string{"0", "123456789"}},
		{1, 1, 8, []string{"0", "9"}},
	} {
		folds, err := set.RollingOrigin(test.k, test.size, test.gap)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range folds {
			got = append(got, values(f.Train), values(f.Validation))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("RollingOrigin(%d, %d, %d): %v, want %v", test.k, test.size, test.gap, got, test.want)
		}
	}
	for _, bad := range [][3]int{{0, 1, 0}, {1, 0, 0}, {1, 1, -1}, {5, 2, 0}, {1, 1, 9}, {1, 10, 0}, {math.MaxInt, 1, 0}, {1, math.MaxInt, 0}, {1, 1, math.MaxInt}, {2, math.MaxInt/2 + 1, 0}} {
		if _, err := set.RollingOrigin(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("RollingOrigin(%v) is no error", bad)
		}
	}
}
