package data_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

func TestMobyDick(t *testing.T) {
	text, err := data.MobyDick()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "CHAPTER 1. Loomings.\n\nCall me Ishmael.") || len([]rune(text)) != 384098 {
		t.Errorf("%d characters, beginning %q", len([]rune(text)), text[:40])
	}
	v := data.Chars(text)
	tokens, err := v.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	if v.Size() != 82 || v.Decode(tokens) != text {
		t.Errorf("%v does not give the text back", v)
	}
}

func TestVocabulary(t *testing.T) {
	v := data.Chars("banana é")
	tokens, err := v.Encode("an é")
	if err != nil || !slices.Equal(tokens, []int{1, 3, 0, 4}) {
		t.Errorf("tokens %v, %v", tokens, err)
	}
	if v.String() != `5 characters: " abné"` {
		t.Errorf("%v", v)
	}
	if _, err := v.Encode("bat"); err == nil || !strings.Contains(err.Error(), `'t' at byte 2`) {
		t.Errorf("error %v", err)
	}
}

func TestWindows(t *testing.T) {
	tokens := []int{0, 1, 2, 3, 4, 5, 6}
	for _, tt := range []struct {
		length, step int
		want         [][]float32
	}{
		{3, 1, [][]float32{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}}},
		{3, 3, [][]float32{{0, 1, 2}, {3, 4, 5}}},
		{6, 2, [][]float32{{0, 1, 2, 3, 4, 5}}},
		{2, 3, [][]float32{{0, 1}, {3, 4}}},
	} {
		set, err := data.Windows(tokens, tt.length, tt.step)
		if err != nil {
			t.Fatal(err)
		}
		if set.Len() != len(tt.want) || set.SequenceLength() != tt.length {
			t.Fatalf("length %d, step %d: %d windows of %d", tt.length, tt.step, set.Len(), set.SequenceLength())
		}
		it := set.Batches(2)
		for it.Next() {
			b := it.Batch()
			if got, want := b.Y.Shape(), []int{b.Len(), tt.length}; !slices.Equal(got, want) {
				t.Errorf("labels of shape %v, want %v", got, want)
			}
			for i, e := range b.Index {
				x := b.X.Data()[i*tt.length : (i+1)*tt.length]
				if !slices.Equal(x, tt.want[e]) {
					t.Errorf("window %d: %v", e, x)
				}
				for k, y := range b.Y.Ints()[i*tt.length : (i+1)*tt.length] {
					if y != int(x[k])+1 {
						t.Errorf("window %d: label %d is %d", e, k, y)
					}
				}
			}
		}
		if it.Err() != nil {
			t.Error(it.Err())
		}
	}
	for _, bad := range [][2]int{{7, 1}, {0, 1}, {3, 0}} {
		if _, err := data.Windows(tokens, bad[0], bad[1]); err == nil {
			t.Errorf("windows %v are made", bad)
		}
	}
	if _, err := data.Windows([]int{0, -1, 2}, 1, 1); err == nil {
		t.Error("a negative token is taken")
	}
}

func TestTimeSeries(t *testing.T) {
	values := [][]float32{{0, 10}, {1, 11}, {2, 12}, {3, 13}, {4, 14}}
	for _, tt := range []struct {
		past, future int
		targets      []int
		examples     int
		x, want      []float32 // of the last example
	}{
		{2, 1, nil, 3, []float32{2, 12, 3, 13}, []float32{4}},
		{1, 2, []int{1}, 3, []float32{2, 12}, []float32{13, 14}},
		{3, 2, []int{1, 0}, 1, []float32{0, 10, 1, 11, 2, 12}, []float32{13, 3, 14, 4}},
	} {
		set, err := data.TimeSeries(values, tt.past, tt.future, tt.targets...)
		if err != nil {
			t.Fatal(err)
		}
		last := set.Len() - 1
		if set.Len() != tt.examples || !slices.Equal(set.Shape(), []int{tt.past, 2}) ||
			!slices.Equal(set.Example(last), tt.x) || !slices.Equal(set.Target(last), tt.want) {
			t.Errorf("past %d, future %d, targets %v: %v, the last one is %v with the targets %v; want %v and %v",
				tt.past, tt.future, tt.targets, set, set.Example(last), set.Target(last), tt.x, tt.want)
		}
	}
}

func TestTimeSeriesErrors(t *testing.T) {
	nan := float32(math.NaN())
	for _, tt := range []struct {
		values       [][]float32
		past, future int
		targets      []int
		want         string
	}{
		{[][]float32{{1}, {2}}, 0, 1, nil, "past 0 and future 1 must both be at least 1"},
		{[][]float32{{1}, {2}}, 2, 1, nil, "2 times are too few for 2 of the past and 1 of the future"},
		{[][]float32{{1}, {2, 3}}, 1, 1, nil, "time 1"},
		{[][]float32{{1, 2}, {3, nan}}, 1, 1, nil, "feature 1 at time 1 is NaN"},
		{[][]float32{{1, 2}, {3, 4}}, 1, 1, []int{2}, "target 2 is not one of the features 0 to 1"},
	} {
		if _, err := data.TimeSeries(tt.values, tt.past, tt.future, tt.targets...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want an error with %q", tt.values, err, tt.want)
		}
	}
}

// TestTimeSeriesKnown compares examples with the rows that they consist of, and requires errors that
// name the rows.
func TestTimeSeriesKnown(t *testing.T) {
	var values, known [][]float32
	for i := range 9 {
		values, known = append(values, []float32{float32(i), float32(100 + i)}), append(known, []float32{float32(1000 + i)})
	}
	set, err := data.TimeSeriesKnown(values, known, 3, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 5 || !slices.Equal(set.Shape(), []int{8}) || set.Targets() != 2 {
		t.Errorf("%d examples of shape %v with %d targets", set.Len(), set.Shape(), set.Targets())
	}
	if got := set.Example(4); !slices.Equal(got, []float32{4, 104, 5, 105, 6, 106, 1007, 1008}) {
		t.Errorf("example 4 is %v", got)
	}
	if got := set.Target(4); !slices.Equal(got, []float32{107, 108}) {
		t.Errorf("the targets are %v", got)
	}
	known[6][0] = float32(math.NaN())
	for want, f := range map[string]func() (*data.Dataset, error){
		"known feature 0 at time 6 is NaN":                            func() (*data.Dataset, error) { return data.TimeSeriesKnown(values, known, 3, 2) },
		"the known features have 8 times, but the values have 9":      func() (*data.Dataset, error) { return data.TimeSeriesKnown(values, known[:8], 3, 2) },
		"TimeSeriesKnown: 9 times are too few":                        func() (*data.Dataset, error) { return data.TimeSeriesKnown(values, known, 8, 2) },
		"TimeSeriesKnown: target 2 is not one of the features 0 to 1": func() (*data.Dataset, error) { return data.TimeSeriesKnown(values, known, 3, 2, 2) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
