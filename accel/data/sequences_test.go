package data_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/data"
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
