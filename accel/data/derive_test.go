package data_test

import (
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// addNoise is an input with noise and the noise as the target.
func addNoise(input, target []float32, e data.Example, random *rand.Rand) {
	for i, v := range e.X {
		target[i] = float32(random.NormFloat64())
		input[i] = v + target[i]
	}
	input[len(e.X)] = float32(e.Class)
}

// batchesOf returns the inputs and targets of an epoch.
func batchesOf(t *testing.T, set *data.Dataset, options ...data.Option) (x, y []float32) {
	t.Helper()
	it := set.Batches(4, options...)
	for it.Next() {
		x, y = append(x, it.Batch().X.Data()...), append(y, it.Batch().Y.Data()...)
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return x, y
}

func TestDerive(t *testing.T) {
	set := flowers()
	noisy, err := set.Derive("noisy", 3, 2, addNoise)
	if err != nil {
		t.Fatal(err)
	}
	x, y := batchesOf(t, noisy, data.Epoch(1), data.Workers(0))
	for i := range set.Len() {
		for k, v := range set.Example(i) {
			if got := x[3*i+k] - y[2*i+k]; max(got-v, v-got) > 1e-5 {
				t.Errorf("example %d without its noise is %v at %d, want %v", i, got, k, v)
			}
		}
		if x[3*i+2] != float32(set.Label(i)) {
			t.Errorf("the class of example %d is %v, want %d", i, x[3*i+2], set.Label(i))
		}
	}
	again, _ := batchesOf(t, noisy, data.Epoch(1), data.Workers(3))
	later, _ := batchesOf(t, noisy, data.Epoch(2))
	if !slices.Equal(x, again) {
		t.Error("another number of workers draws other noise")
	}
	if slices.Equal(x, later) || slices.Equal(x[:3], x[3:6]) {
		t.Error("the noise is the same in another epoch, or for another example")
	}
	skipped, _ := batchesOf(t, noisy, data.Epoch(1), data.Skip(1))
	if !slices.Equal(skipped, x[12:]) {
		t.Error("an epoch that continues has other noise")
	}
	if !slices.Equal(noisy.Example(0), noisy.Example(0)) {
		t.Error("Example changes")
	}
}

// TestDeriveAfterTransforms requires that the noise is independent of that of the transforms before, and that
// both stay random in data sets made of this one.
func TestDeriveAfterTransforms(t *testing.T) {
	draw := data.Lambda("noise", func(x []float32, _ []int, random *rand.Rand) {
		for i := range x {
			x[i] = float32(random.NormFloat64())
		}
	})
	drawn, err := flowers().Map(draw)
	if err != nil {
		t.Fatal(err)
	}
	twice := func(input, target []float32, e data.Example, random *rand.Rand) {
		copy(input, e.X)
		target[0], target[1] = float32(random.NormFloat64()), float32(random.NormFloat64())
	}
	noisy, err := drawn.Derive("noise", 2, 2, twice)
	if err != nil {
		t.Fatal(err)
	}
	nested, err := noisy.Derive("noise", 2, 2, twice)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nested.WithTargetValues(make([][]float32, nested.Len())); err == nil {
		t.Error("targets of the length 0 are accepted")
	}
	targets := make([][]float32, nested.Len())
	for i := range targets {
		targets[i] = []float32{1, 2}
	}
	other, err := nested.WithTargetValues(targets)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := data.Concat(nested, nested)
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*data.Dataset{"once": noisy, "nested": nested, "other targets": other, "joined": joined} {
		x, y := batchesOf(t, set, data.Epoch(1))
		later, _ := batchesOf(t, set, data.Epoch(2))
		if slices.Equal(x, y) || slices.Equal(x, later) {
			t.Errorf("%s: the noise repeats", name)
		}
		if n := len(x) / 2; name == "joined" && slices.Equal(x[:n], x[n:]) {
			t.Error("both parts have the same noise")
		}
	}
}

func TestDeriveRefuses(t *testing.T) {
	noisy, err := flowers().Derive("noisy", 3, 2, addNoise)
	if err != nil {
		t.Fatal(err)
	}
	words, err := data.Sequences([][]int{{1, 2}, {3}}, []int{0, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"no function": func() error { _, err := flowers().Derive("x", 1, 1, nil); return err },
		"no inputs":   func() error { _, err := flowers().Derive("x", 0, 1, addNoise); return err },
		"huge":        func() error { _, err := flowers().Derive("x", 1<<40, 1, addNoise); return err },
		"no targets":  func() error { _, err := flowers().Derive("x", 1, -1, addNoise); return err },
		"sequences":   func() error { _, err := words.Derive("x", 1, 1, addNoise); return err },
		"Cached":      func() error { _, err := noisy.Cached(1 << 20); return err },
		"OnDevice":    func() error { _, err := noisy.OnDevice(); return err },
		"Inputs":      func() error { _, err := data.Inputs(flowers(), noisy); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestConcat(t *testing.T) {
	set := flowers()
	last, err := set.Subset([]int{5, 4})
	if err != nil {
		t.Fatal(err)
	}
	doubled, err := last.Map(data.Normalize(0, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	all, err := data.Concat(set.First(2), doubled, set.First(0), last)
	if err != nil {
		t.Fatal(err)
	}
	b, err := all.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.X.Data(), []float32{1, 2, 2, 3, 12, 6, 10, 4, 6, 3, 5, 2}; !slices.Equal(got, want) {
		t.Errorf("the examples are %v, want %v", got, want)
	}
	if got := []int{all.Label(0), all.Label(3), all.Label(5)}; !slices.Equal(got, []int{set.Label(0), set.Label(4), set.Label(4)}) {
		t.Errorf("the labels are %v", got)
	}
	if !slices.Equal(all.Columns(), set.Columns()) || !slices.Equal(all.Classes(), set.Classes()) {
		t.Errorf("the names are %v and %v", all.Columns(), all.Classes())
	}
	long, err := data.Sequences([][]int{{1, 2, 3}, {4}}, []int{0, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	both, err := data.Concat(long, long)
	if err != nil || both.Length(3) != 1 || both.Length(2) != 3 {
		t.Errorf("sequences: %v", err)
	}
	padded := tagged(t, 9, []int{1, 2, 3}, []int{4})
	packed, err := padded.PackSequences(4)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := data.Concat(packed, packed)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := rows.Tensors(); err != nil || !slices.EqualFunc(b.Positions, [][]int{{0, 1, 2, 0}, {0, 1, 2, 0}}, slices.Equal) {
		t.Errorf("packed sequences: %v, %v", b.Positions, err)
	}
	if _, err := data.Concat(packed, tagged(t, 9, []int{1, 2, 3, 4})); err == nil {
		t.Error("packed and padded sequences: no error")
	}
	named, _ := set.WithClasses("tulip", "rose")
	targets, _ := data.FromTargets([][]float32{{1, 2}}, [][]float32{{3}})
	wide, _ := set.Reshape(1, 2)
	for name, with := range map[string]*data.Dataset{"nil": nil, "other classes": named, "targets": targets, "shape": wide} {
		if _, err := data.Concat(set, with); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The target is the example, and the input has a hole that differs in each epoch.
func ExampleDataset_Derive() {
	masked, err := flowers().Derive("masked", 2, 2, func(input, target []float32, e data.Example, random *rand.Rand) {
		copy(input, e.X)
		copy(target, e.X)
		input[random.IntN(2)] = 0
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(masked)
	fmt.Println(masked.Target(4), masked.Example(4)[0]*masked.Example(4)[1])
	// Output:
	// examples, masked: 6 examples of shape [2], 2 targets each
	// [5 2] 0
}

func ExampleConcat() {
	first, rest := flowers().Split(0.5)
	all, err := data.Concat(rest, first)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(all.Len(), all.Example(0), all.Example(5))
	// Output: 6 [4 1] [3 1]
}

// TestConcatSequences concatenates sequences whose longest ones differ: batches are padded to the longest of all.
func TestConcatSequences(t *testing.T) {
	t.Parallel()
	const padding = 7
	long, short := tagged(t, padding, []int{1, 2, 3}, []int{4}), tagged(t, padding, []int{5, 6})
	cached, err := short.Cached(1 << 10)
	if err != nil {
		t.Fatal(err)
	}
	all, err := data.Concat(cached, long, short)
	if err != nil {
		t.Fatal(err)
	}
	again, err := data.Concat(short, all)
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Shape(); !slices.Equal(got, []int{3}) || all.SequenceLength() != 3 {
		t.Errorf("the shape is %v, the labels have %d positions", got, all.SequenceLength())
	}
	for range 2 { // the second time from the cache
		b, err := again.Tensors()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := b.X.Data(), []float32{5, 6, 7, 5, 6, 7, 1, 2, 3, 4, 7, 7, 5, 6, 7}; !slices.Equal(got, want) {
			t.Errorf("the examples are %v, want %v", got, want)
		}
		if got, want := b.Lengths, []int{2, 2, 3, 1, 2}; !slices.Equal(got, want) {
			t.Errorf("the lengths are %v, want %v", got, want)
		}
		if got, want := b.Y.Ints(), []int{6, 7, data.Ignored}; !slices.Equal(got[:3], want) {
			t.Errorf("the labels are %v, want %v", got[:3], want)
		}
	}
}

func TestConcatErrors(t *testing.T) {
	t.Parallel()
	set := flowers()
	named, err := set.WithClasses("tulip", "rose")
	if err != nil {
		t.Fatal(err)
	}
	zero, nine := tagged(t, 0, []int{1, 2}), tagged(t, 9, []int{3, 4})
	for _, row := range []struct {
		name        string
		first, more *data.Dataset
		want        string
	}{
		{"padding", zero, nine, "data: Concat: the sequences of data set 1 (sequences) are padded with 9, but those of data set 0 with 0: make them with the same padding"},
		{"padding and lengths", zero, tagged(t, 9, []int{3, 4, 5}), "are padded with 9"},
		{"classes", set, named, "data: Concat: class 0 is \"tulip\""},
	} {
		_, err := data.Concat(row.first, row.more)
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "training set") {
			t.Errorf("%s: %v", row.name, err)
		}
		if differs := new(data.MismatchError); row.name == "classes" && !errors.As(err, &differs) {
			t.Errorf("%s: %T", row.name, err)
		}
	}
	var none *data.Dataset
	if _, err := none.PackSequences(4); err == nil || !strings.Contains(err.Error(), "the data set is nil") {
		t.Errorf("PackSequences of nil: %v", err)
	}
}
