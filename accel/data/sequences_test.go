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
	"github.com/quernlab/quern/accel/tensor"
)

var sentences = [][]int{{1, 2, 3}, {4}, {5, 1, 2, 3, 4}, {6, 7}, {8}}

func sequences(t *testing.T) *data.Dataset {
	t.Helper()
	set, err := data.Sequences(sentences, []int{0, 1, 0, 1, 1}, 9)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestSequences pads each batch to its longest sequence, also on the device.
func TestSequences(t *testing.T) {
	set := sequences(t)
	on, err := set.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	part, err := set.Subset([]int{0, 1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	cached, err := set.Cached(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	relabeled, err := set.WithLabels([]int{0, 1, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float32{{1, 2, 3, 4, 9, 9}, {5, 1, 2, 3, 4, 6, 7, 9, 9, 9}, {8}}
	lengths := [][]int{{3, 1}, {5, 2}, {1}}
	for name, s := range map[string]*data.Dataset{"memory": set, "device": on, "subset": part, "cached": cached, "relabeled": relabeled} {
		k := 0
		for it := s.Batches(2); it.Next(); k++ {
			b := it.Batch()
			longest := slices.Max(lengths[k])
			if !slices.Equal(b.X.Data(), want[k]) || !slices.Equal(b.X.Shape(), []int{len(lengths[k]), longest}) || !slices.Equal(b.Lengths, lengths[k]) || b.Padded != longest {
				t.Errorf("%s: batch %d: %v of shape %v, lengths %v, padded to %d", name, k, b.X.Data(), b.X.Shape(), b.Lengths, b.Padded)
			}
		}
		if k != 3 {
			t.Errorf("%s: %d batches", name, k)
		}
	}
}

// TestSequencesWithInputs pads sequences beside other inputs to the longest of all.
func TestSequencesWithInputs(t *testing.T) {
	table, err := data.FromSlices([][]float32{{10}, {20}, {30}, {40}, {50}}, []int{0, 1, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	both, err := data.Inputs(table, sequences(t))
	if err != nil {
		t.Fatal(err)
	}
	it := both.Batches(2)
	it.Next()
	b := it.Batch()
	if want := []float32{10, 1, 2, 3, 9, 9, 20, 4, 9, 9, 9, 9}; !slices.Equal(b.X.Data(), want) || !slices.Equal(b.Lengths, []int{3, 1}) || b.Padded != 5 {
		t.Errorf("%v, lengths %v, padded to %d", b.X.Data(), b.Lengths, b.Padded)
	}
	if _, err := data.Inputs(sequences(t), sequences(t)); err == nil {
		t.Error("two lists of lengths are no error")
	}
}

func TestGroupByLength(t *testing.T) {
	var tokens [][]int
	for i := range 103 {
		tokens = append(tokens, make([]int, 1+i*37%50))
	}
	set, err := data.Sequences(tokens, make([]int, len(tokens)), 0)
	if err != nil {
		t.Fatal(err)
	}
	count := func(options ...data.Option) (padding int, order []int) {
		it := set.Batches(8, options...)
		for it.Next() {
			b := it.Batch()
			for _, n := range b.Lengths {
				padding += b.Padded - n
			}
			order = append(order, b.Index...)
		}
		if err := it.Err(); err != nil {
			t.Fatal(err)
		}
		return padding, order
	}
	random, _ := count(data.Shuffle(1))
	grouped, order := count(data.Shuffle(1), data.GroupByLength())
	if grouped*5 > random {
		t.Errorf("%d padding tokens, in random order %d", grouped, random)
	}
	if _, again := count(data.Shuffle(1), data.GroupByLength()); !slices.Equal(order, again) {
		t.Error("the same seed gives another order")
	}
	if _, other := count(data.Shuffle(2), data.GroupByLength()); slices.Equal(order, other) {
		t.Error("another seed gives the same order")
	}
	slices.Sort(order)
	for i, e := range order {
		if i != e {
			t.Fatalf("examples %v", order)
		}
	}
	for name, it := range map[string]*data.Batches{"without Shuffle": set.Batches(8, data.GroupByLength())} {
		if it.Next() || it.Err() == nil {
			t.Errorf("%s is no error", name)
		}
	}
}

func TestSequencesRejects(t *testing.T) {
	set := sequences(t)
	for name, f := range map[string]func() error{
		"reshape": func() error { _, err := set.Reshape(1, 5); return err },
		"append":  func() error { _, err := set.Append([][]float32{{1, 2, 3, 4, 5}}, []int{0}); return err },
		"labels":  func() error { _, err := data.Sequences(sentences, []int{0}, 0); return err },
		"none":    func() error { _, err := data.Sequences(nil, nil, 0); return err },
	} {
		if f() == nil {
			t.Errorf("%s is no error", name)
		}
	}
	var example *data.ExampleError
	if _, err := data.Sequences([][]int{{1}, {}}, []int{0, 0}, 0); !errors.As(err, &example) || example.Example != 1 {
		t.Errorf("an empty sequence: %v", err)
	}
	if _, err := data.Sequences([][]int{{-1}}, []int{0}, 0); !errors.As(err, &example) {
		t.Errorf("a negative token: %v", err)
	}
}

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
		counts, classes := make([]int, len(sequences)), b.Y.Ints()
		for k, class := range classes {
			if class != data.Ignored {
				counts[class-1]++
				if at := b.Positions[k/length][k%length]; at >= len(sequences[class-1]) || at > 0 && classes[k-1] != class {
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

// TestTokenClasses pads the classes of tokens with Ignored, also on the device, in parts and in
// orders of a longer data set.
func TestTokenClasses(t *testing.T) {
	const no = data.Ignored
	set, err := data.TokenClasses(sentences, [][]int{{0, 1, no}, {2}, {no, 1, 1, 0, 0}, {1, 1}, {3}}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if set.SequenceLength() != 5 || !set.Ignores() || len(set.Classes()) != 4 || set.Length(2) != 5 {
		t.Fatalf("%v: %d positions, classes %v", set, set.SequenceLength(), set.Classes())
	}
	on, err := set.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	cached, err := set.Cached(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	wantX := [][]float32{{1, 2, 3, 4, 9, 9}, {5, 1, 2, 3, 4, 6, 7, 9, 9, 9}, {8}}
	wantY := [][]int{{0, 1, no, 2, no, no}, {no, 1, 1, 0, 0, 1, 1, no, no, no}, {3}}
	for name, s := range map[string]*data.Dataset{"memory": set, "device": on, "cached": cached} {
		k := 0
		for it := s.Batches(2); it.Next(); k++ {
			b := it.Batch()
			if !slices.Equal(b.X.Data(), wantX[k]) || !slices.Equal(b.Y.Ints(), wantY[k]) || !slices.Equal(b.X.Shape(), b.Y.Shape()) || !b.Ignores {
				t.Errorf("%s: batch %d: %v and %v of shapes %v and %v", name, k, b.X.Data(), b.Y.Ints(), b.X.Shape(), b.Y.Shape())
			}
		}
		if k != 3 {
			t.Errorf("%s: %d batches", name, k)
		}
	}
	named, err := set.WithClasses("B", "I", "O", "X")
	if err != nil {
		t.Fatal(err)
	}
	order, err := set.WithClasses("I", "B", "O", "X")
	if err != nil {
		t.Fatal(err)
	}
	like, err := order.Like(named)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := like.First(1).Tensors(); err != nil || !slices.Equal(b.Y.Ints(), []int{1, 0, no}) {
		t.Errorf("with the order of another data set: %v, %v", b.Y.Ints(), err)
	}
	if counts := set.Counts(); len(counts) != 4 {
		t.Errorf("counts %v", counts)
	}
}

// TestSequenceTargets pads sequences with targets.
func TestSequenceTargets(t *testing.T) {
	set, err := data.SequenceTargets(sentences, [][]float32{{0, 1}, {1, 1}, {0, 0}, {1, 0}, {1, 1}}, 9)
	if err != nil {
		t.Fatal(err)
	}
	set, err = set.WithTargets("news", "sport")
	if err != nil {
		t.Fatal(err)
	}
	it := set.Batches(2)
	it.Next()
	if b := it.Batch(); !slices.Equal(b.X.Data(), []float32{1, 2, 3, 4, 9, 9}) || !slices.Equal(b.Y.Data(), []float32{0, 1, 1, 1}) || !slices.Equal(b.Lengths, []int{3, 1}) {
		t.Errorf("%v and %v, lengths %v", b.X.Data(), b.Y.Data(), b.Lengths)
	}
}

// TestPositionClasses makes data sets of tensors with a class at each position.
func TestPositionClasses(t *testing.T) {
	x := tensor.New(make([]float32, 12), 2, 1, 2, 3)
	set, err := data.FromTensors(x, tensor.FromInts([]int{0, 1, 2, data.Ignored, 4, 0, 0, 0, 0, 0, 0, 1}, 2, 6))
	if err != nil {
		t.Fatal(err)
	}
	b, err := set.Tensors()
	if err != nil || !slices.Equal(b.Y.Shape(), []int{2, 6}) || b.Y.Ints()[3] != data.Ignored || !b.Ignores || len(set.Classes()) != 5 {
		t.Errorf("%v of shape %v, classes %v, %v", b.Y.Ints(), b.Y.Shape(), set.Classes(), err)
	}
	for name, test := range map[string]struct {
		make func() error
		want string
	}{
		"mask":   {func() error { _, err := data.FromTensors(x, tensor.FromInts(make([]int, 12), 2, 2, 3)); return err }, "[N, H*W]"},
		"label":  {func() error { _, err := data.FromTensors(x, tensor.FromInts([]int{0, -1}, 2, 1)); return err }, "label -1 of position 1"},
		"single": {func() error { _, err := data.FromTensors(x, tensor.FromInts([]int{0, data.Ignored}, 2)); return err }, "label -100 of example 1"},
	} {
		if err := test.make(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var example *data.ExampleError
	if _, err := data.TokenClasses(sentences, [][]int{{0, 1, 1}, {2, 2}, nil, nil, nil}, 9); !errors.As(err, &example) || example.Example != 1 {
		t.Errorf("too many classes: %v", err)
	}
	if _, err := data.TokenClasses(sentences, [][]int{{0, 1, 1}, {-1}, nil, nil, nil}, 9); !errors.As(err, &example) || example.Example != 1 {
		t.Errorf("a negative class: %v", err)
	}
	if _, err := data.TokenClasses(sentences, [][]int{{0}}, 9); err == nil {
		t.Error("a class for each token of one of five sequences is not an error")
	}
	if _, err := data.SequenceTargets(sentences, [][]float32{{0}}, 9); err == nil {
		t.Error("targets of one of five sequences are not an error")
	}
}
