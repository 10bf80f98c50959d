package data_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// testImages returns n images of 3×4 pixels; pixel k of image i is 100·i + k.
func testImages(t *testing.T, n int) *data.Dataset {
	t.Helper()
	examples := make([][]float32, n)
	for i := range examples {
		for k := range 12 {
			examples[i] = append(examples[i], float32(100*i+k))
		}
	}
	set, err := data.FromSlices(examples, make([]int, n))
	if err == nil {
		set, err = set.Reshape(1, 3, 4)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func apply(t *testing.T, set *data.Dataset, options ...data.Option) (all [][]float32) {
	t.Helper()
	it := set.Batches(7, options...)
	for it.Next() {
		b := it.Batch()
		x := b.X.Data()
		for i := range b.Len() {
			all = append(all, x[12*i:12*i+12])
		}
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return all
}

func TestTransforms(t *testing.T) {
	set := testImages(t, 200)
	mapped, err := set.Map(data.RandomHorizontalFlip(), data.RandomShift(1), data.Normalize(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	undo := func(x []float32) string { return fmt.Sprint(x) }
	// Each result is one of the eighteen combinations of flip and shift.
	possible := func(i int) map[string]bool {
		all := map[string]bool{}
		for flip := range 2 {
			for down := -1; down <= 1; down++ {
				for right := -1; right <= 1; right++ {
					x := make([]float32, 12)
					for row := range 3 {
						for column := range 4 {
							r, c := row-down, column-right
							v := 0.0
							if r >= 0 && r < 3 && c >= 0 && c < 4 {
								if flip == 1 {
									c = 3 - c
								}
								v = float64(100*i + 4*r + c)
							}
							x[4*row+column] = float32((v - 3) / 2)
						}
					}
					all[undo(x)] = true
				}
			}
		}
		return all
	}
	seen := map[string]bool{}
	got := apply(t, mapped)
	for i, x := range got {
		if !possible(i)[undo(x)] {
			t.Fatalf("example %d became %v", i, x)
		}
		relative := slices.Clone(x)
		for k, v := range relative {
			if relative[k] = v - float32(50*i); v == -1.5 {
				relative[k] = float32(math.Inf(-1))
			}
		}
		if i > 0 {
			seen[undo(relative)] = true
		}
	}
	if len(seen) < 18 {
		t.Errorf("only %d of 18 changes were seen", len(seen))
	}
	order := []data.Option{data.Shuffle(3), data.Epoch(2)}
	want := apply(t, mapped, append(order, data.Workers(0))...)
	for _, workers := range []int{1, 4} {
		if again := apply(t, mapped, append(order, data.Workers(workers))...); !slices.EqualFunc(again, want, slices.Equal) {
			t.Errorf("%d workers give other examples", workers)
		}
	}
	if other := apply(t, mapped, data.Shuffle(3), data.Epoch(3)); slices.EqualFunc(other, want, slices.Equal) {
		t.Error("two rounds are equal")
	}
	if x := mapped.Example(1); x[0] != 100 {
		t.Errorf("Example is transformed: %v", x)
	}
	if text := mapped.String(); !strings.HasSuffix(text, "by RandomHorizontalFlip(), RandomShift(1), Normalize(3, 2)") {
		t.Errorf("the set says %q", text)
	}
	skipped := apply(t, mapped, append(order, data.Skip(2))...)
	if !slices.EqualFunc(skipped, want[14:], slices.Equal) {
		t.Error("Skip(2) does not begin with the third batch")
	}
}

func TestTransformsThatDoNotFit(t *testing.T) {
	set := testImages(t, 1)
	flat, err := set.Reshape(12)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		set *data.Dataset
		f   data.Transform
	}{
		{flat, data.RandomHorizontalFlip()}, {flat, data.RandomShift(1)}, {set, data.RandomShift(3)}, {set, data.RandomShift(-1)},
		{set, data.Normalize(0, 0)}, {set, data.Normalize(math.NaN(), 1)}, {set, data.Transform{}},
	} {
		if _, err := tt.set.Map(tt.f); err == nil {
			t.Errorf("%v of shape %v is taken", tt.f, tt.set.Shape())
		}
	}
	flipped, err := set.Map(data.RandomHorizontalFlip())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flipped.Reshape(12); err == nil {
		t.Error("a flip of rows is taken")
	}
	own, err := set.Map(data.Lambda("ones", func(x []float32, _ []int, _ *rand.Rand) {
		for i := range x {
			x[i] = 1
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if x := apply(t, own)[0]; x[0] != 1 || x[11] != 1 {
		t.Errorf("a function of one's own gave %v", x)
	}
}
