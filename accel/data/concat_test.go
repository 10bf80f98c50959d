package data_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

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
