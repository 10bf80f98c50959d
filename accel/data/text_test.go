package data_test

import (
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
