package data_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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

// TestShardDividesEachBatch compares the parts of all ranks with the batches without Shard.
func TestShardDividesEachBatch(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64, 65} {
		x, labels := make([][]float32, n), make([]int, n)
		for i := range x {
			x[i], labels[i] = []float32{float32(i), 1}, i%3
		}
		set, err := data.FromSlices(x, labels)
		if err != nil {
			t.Fatal(err)
		}
		resident, err := set.OnDevice()
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{1, 2, 3, 4, 8} {
			for _, size := range []int{1, 3, 8, 100} {
				for _, s := range []*data.Dataset{set, resident} {
					testShard(t, s, ranks, size)
				}
			}
		}
	}
}

func testShard(t *testing.T, set *data.Dataset, ranks, size int) {
	t.Helper()
	name := fmt.Sprintf("%d examples, %d ranks, batches of %d", set.Len(), ranks, size)
	whole := set.Batches(size, data.Shuffle(5), data.Epoch(2))
	parts := make([]*data.Batches, ranks)
	for r := range parts {
		parts[r] = set.Batches(size, data.Shuffle(5), data.Epoch(2), data.Shard(r, ranks))
	}
	for whole.Next() {
		want := whole.Batch()
		got, share := make([]int, want.Len()), 0.0
		least, most := want.Len(), 0
		for r, p := range parts {
			if !p.Next() {
				t.Fatalf("%s: rank %d has ended: %v", name, r, p.Err())
			}
			b := p.Batch()
			if b.Whole != want.Len() || (b.X == nil) != (b.Len() == 0) || (b.Y == nil) != (b.Len() == 0) {
				t.Fatalf("%s: rank %d has %d of %d examples", name, r, b.Len(), b.Whole)
			}
			share += b.Share()
			least, most = min(least, b.Len()), max(most, b.Len())
			for i, e := range b.Index {
				got[r+i*ranks] = e
				if x := b.X.Data(); int(x[2*i]) != e || int(b.Y.Data()[i]) != e%3 {
					t.Fatalf("%s: rank %d, example %d has X %v", name, r, e, x)
				}
			}
		}
		if !slices.Equal(got, want.Index) {
			t.Fatalf("%s: got %v, want %v", name, got, want.Index)
		}
		if share < 1-1e-12 || share > 1+1e-12 || most-least > 1 {
			t.Fatalf("%s: shares are %v together, parts have %d to %d examples", name, share, least, most)
		}
	}
	for r, p := range parts {
		if p.Next() || p.Err() != nil {
			t.Fatalf("%s: rank %d goes on: %v", name, r, p.Err())
		}
	}
}

func TestShardOfNoRank(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []data.Option{data.Shard(2, 2), data.Shard(-1, 2), data.Shard(1, 0), data.Shard(0, -1)} {
		if it := set.Batches(1, o); it.Next() || it.Err() == nil {
			t.Errorf("%v: %v", o, it.Err())
		}
	}
}

func TestHardExampleWeights(t *testing.T) {
	for name, c := range map[string]struct {
		losses  []float64
		uniform float64
		want    []float64
	}{
		"losses":      {[]float64{1, 3, 0}, 0, []float64{0.25, 0.75, 0}},
		"mixed":       {[]float64{1, 3, 0, 0}, 0.5, []float64{0.25, 0.5, 0.125, 0.125}},
		"uniform":     {[]float64{1, 3}, 1, []float64{0.5, 0.5}},
		"all zero":    {[]float64{0, 0}, 0.1, []float64{0.5, 0.5}},
		"equal":       {[]float64{2, 2}, 0.3, []float64{0.5, 0.5}},
		"one":         {[]float64{7}, 0, []float64{1}},
		"none":        {nil, 0.5, nil},
		"large":       {[]float64{math.MaxFloat64, math.MaxFloat64}, 0, []float64{0.5, 0.5}},
		"denormal":    {[]float64{math.SmallestNonzeroFloat64, 0}, 0, []float64{1, 0}},
		"very hard":   {[]float64{1e300, 1e-300}, 0.5, []float64{0.75, 0.25}},
		"NaN":         {[]float64{1, math.NaN()}, 0, nil},
		"infinite":    {[]float64{1, math.Inf(1)}, 0, nil},
		"negative":    {[]float64{-1}, 0, nil},
		"share":       {[]float64{1}, 1.1, nil},
		"share below": {[]float64{1}, -0.1, nil},
		"share NaN":   {[]float64{1}, math.NaN(), nil},
	} {
		got, err := data.HardExampleWeights(c.losses, c.uniform)
		if (err == nil) != (c.want != nil || len(c.losses) == 0) || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i, w := range c.want {
			if math.Abs(got[i]-w) > 1e-12 {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
	}
}

// The third example has half of all the losses; a tenth of the draws does not look at losses.
func ExampleHardExampleWeights() {
	weights, err := data.HardExampleWeights([]float64{1, 1, 4, 2}, 0.1)
	fmt.Printf("%.3f %v\n", weights, err)
	// Output: [0.138 0.138 0.475 0.250] <nil>
}
