package data_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// tagged are sequences whose classes are their tokens plus 1.
func tagged(t *testing.T, padding int, sequences ...[]int) *data.Dataset {
	t.Helper()
	classes := make([][]int, len(sequences))
	for i, s := range sequences {
		for _, token := range s {
			classes[i] = append(classes[i], token+1)
		}
	}
	set, err := data.TokenClasses(sequences, classes, padding)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Rows have several sequences, positions that restart, and Ignored behind the last sequence, also on the
// device, in a cache, in another order and with other classes.
func TestPackSequences(t *testing.T) {
	const no = data.Ignored
	set := tagged(t, 9, []int{1, 2, 3}, []int{4}, []int{5, 6}, []int{7, 8, 1, 2})
	packed, err := set.PackSequences(5)
	if err != nil {
		t.Fatal(err)
	}
	on, err := packed.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	cached, err := packed.Cached(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := data.Inputs(packed)
	if err != nil {
		t.Fatal(err)
	}
	wantX, wantY := []float32{7, 8, 1, 2, 4, 1, 2, 3, 5, 6}, []int{8, 9, 2, 3, 5, 2, 3, 4, 6, 7}
	wantAt := [][]int{{0, 1, 2, 3, 0}, {0, 1, 2, 0, 1}}
	for name, s := range map[string]*data.Dataset{"memory": packed, "device": on, "cached": cached, "inputs": inputs} {
		for range 2 { // the second time from the cache
			b, err := s.Tensors()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(b.X.Data(), wantX) || !slices.Equal(b.Y.Ints(), wantY) || !slices.EqualFunc(b.Positions, wantAt, slices.Equal) || b.Lengths != nil || !b.Ignores {
				t.Errorf("%s: %v, %v, %v", name, b.X.Data(), b.Y.Ints(), b.Positions)
			}
			if part := b.Slice(1, 2); !slices.EqualFunc(part.Positions, wantAt[1:], slices.Equal) {
				t.Errorf("%s: part %v", name, part.Positions)
			}
		}
	}
	// Only the chosen sequences, and padding.
	some, err := set.Subset([]int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if packed, err = some.PackSequences(5); err != nil {
		t.Fatal(err)
	}
	b, err := packed.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.X.Data(), []float32{7, 8, 1, 2, 9, 5, 6, 9, 9, 9}) || !slices.Equal(b.Y.Ints(), []int{8, 9, 2, 3, no, 6, 7, no, no, no}) || !slices.Equal(b.Positions[1], []int{0, 1, 0, 0, 0}) {
		t.Errorf("a part: %v, %v, %v", b.X.Data(), b.Y.Ints(), b.Positions)
	}
	if share, err := packed.PaddingShare(2); err != nil || math.Abs(share-0.4) > 1e-12 || packed.Length(1) != 2 {
		t.Errorf("padding %v, %v; row 1 has %d tokens", share, err, packed.Length(1))
	}
}

// Each sequence is in one row, no row is too long, and little is padding.
func TestPackSequencesFills(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		length := 1 + random.IntN(200)
		sequences := make([][]int, 1+random.IntN(300))
		tokens := 0
		for i := range sequences {
			sequences[i] = slices.Repeat([]int{i}, 1+random.IntN(length))
			tokens += len(sequences[i])
		}
		packed, err := tagged(t, 0, sequences...).PackSequences(length)
		if err != nil {
			t.Fatal(err)
		}
		b, err := packed.Tensors()
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(sequences))
		for k, class := range b.Y.Ints() {
			if class != data.Ignored {
				counts[class-1]++
				if at := b.Positions[k/length][k%length]; at >= len(sequences[class-1]) || at > 0 && b.Y.Ints()[k-1] != class {
					t.Fatalf("token %d has position %d", k, at)
				}
			}
		}
		for i, n := range counts {
			if n != len(sequences[i]) {
				t.Fatalf("sequence %d has %d of %d tokens", i, n, len(sequences[i]))
			}
		}
		least := (tokens + length - 1) / length
		if packed.Len() > least+least/2+1 { // best fit needs at most 11/9 of the best number of rows, and 1 more
			t.Errorf("%d rows of %d for %d tokens", packed.Len(), length, tokens)
		}
	}
}

func TestPackSequencesErrors(t *testing.T) {
	set := tagged(t, 0, []int{1, 2, 3}, []int{4})
	digits, _, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := set.Subset(nil)
	if err != nil {
		t.Fatal(err)
	}
	cached, err := set.Cached(1)
	if err != nil {
		t.Fatal(err)
	}
	classified, err := data.Sequences([][]int{{1}}, []int{0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set    *data.Dataset
		length int
		want   string
	}{
		"images":          {digits, 10, "TokenClasses"},
		"class each":      {classified, 10, "TokenClasses"},
		"cached":          {cached, 10, "TokenClasses"},
		"empty":           {empty, 10, "empty"},
		"no length":       {set, 0, "from 1"},
		"negative length": {set, math.MinInt, "from 1"},
		"huge length":     {set, math.MaxInt, "from 1"},
	} {
		if _, err := c.set.PackSequences(c.length); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var example *data.ExampleError
	if _, err := set.PackSequences(2); !errors.As(err, &example) || example.Example != 0 {
		t.Errorf("a sequence that is too long: %v", err)
	}
	packed, err := set.PackSequences(4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packed.Reshape(2, 2); err == nil {
		t.Error("rows were reshaped")
	}
	if _, err := data.Inputs(set.First(1), packed); err == nil {
		t.Error("rows became a second input")
	}
	if it := packed.Batches(1, data.Shuffle(1), data.GroupByLength()); it.Next() || it.Err() == nil {
		t.Error("rows were grouped by length")
	}
}

// Short sequences share a row, instead of being padded to the longest one.
func ExampleDataset_PackSequences() {
	tokens := [][]int{{5, 6, 7, 8}, {1, 2}, {3}}
	next := [][]int{{6, 7, 8, 9}, {2, 9}, {9}} // 9 ends a sequence
	padded, err := data.TokenClasses(tokens, next, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	packed, err := padded.PackSequences(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, set := range []*data.Dataset{padded, packed} {
		it := set.Batches(3)
		it.Next()
		share, err := set.PaddingShare(3)
		fmt.Println(it.Batch().X.Shape(), it.Batch().Positions)
		fmt.Printf("%.0f %% padding, error %v\n", 100*share, err)
	}
	// Output:
	// [3 4] []
	// 42 % padding, error <nil>
	// [2 4] [[0 1 2 3] [0 1 0 0]]
	// 12 % padding, error <nil>
}
