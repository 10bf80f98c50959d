package data_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/tensor"
)

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
