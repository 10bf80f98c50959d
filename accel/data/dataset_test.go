package data

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/tensor"
)

func TestDigits(t *testing.T) {
	train, test, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 1437 || test.Len() != 360 {
		t.Errorf("split\n want 1437 and 360\n got  %d and %d", train.Len(), test.Len())
	}
	if !slices.Equal(train.Shape(), []int{1, 8, 8}) || len(train.Classes()) != 10 {
		t.Errorf("shape %v, classes %v", train.Shape(), train.Classes())
	}
	for c, n := range test.Counts() {
		if all := n + train.Counts()[c]; n < all/5 || n > all/5+1 {
			t.Errorf("class %d has %d of %d examples in the test set", c, n, all)
		}
	}
	high := float32(0)
	for i := range test.Len() {
		for _, v := range test.Example(i) {
			if v < 0 || v > 1 {
				t.Fatalf("example %d has a pixel of %v", i, v)
			}
			high = max(high, v)
		}
	}
	if high != 1 {
		t.Errorf("the brightest pixel is %v", high)
	}
	// The first line of the file is a zero, the first of its class.
	want := []float32{0, 0, 5, 13, 9, 1, 0, 0}
	for i := range want {
		want[i] /= 16
	}
	if got := test.Example(0)[:8]; !slices.Equal(got, want) || test.Label(0) != 0 {
		t.Errorf("first test example\n want %v, class 0\n got  %v, class %d", want, got, test.Label(0))
	}
}

func TestParseDigitsNamesTheFault(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"not gzip", "hello, hello, hello", "gzip: invalid header"},
		{"cut", string(digitsFile[:1000]), "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parseDigits([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want an error with %q, got %v", tt.want, err)
			}
		})
	}
}

func TestFromSlicesRefuses(t *testing.T) {
	row := []float32{1, 2}
	tests := []struct {
		name     string
		examples [][]float32
		labels   []int
		want     string
	}{
		{"counts differ", [][]float32{row}, []int{0, 1}, "1 examples, but 2 labels"},
		{"none", nil, nil, "no examples"},
		{"ragged", [][]float32{row, {1}}, []int{0, 1}, "example 1 has 1 values"},
		{"negative label", [][]float32{row}, []int{-1}, "label -1 of example 0"},
		{"not a class", [][]float32{row}, []int{1 << 21}, "class indices"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := FromSlices(tt.examples, tt.labels); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want an error with %q, got %v", tt.want, err)
			}
		})
	}
	if _, err := FromTargets([][]float32{row}, [][]float32{row, row}); err == nil {
		t.Error("1 example with 2 targets was taken")
	}
}

// numbersSet has n examples; example i is [i, i+0.5], its class i mod 3.
func numbersSet(t testing.TB, n int) *Dataset {
	t.Helper()
	examples, labels := make([][]float32, n), make([]int, n)
	for i := range examples {
		examples[i] = []float32{float32(i), float32(i) + 0.5}
		labels[i] = i % 3
	}
	s, err := FromSlices(examples, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// firsts returns the first value of each example, which identifies it.
func firsts(s *Dataset) []int {
	all := make([]int, s.Len())
	for i := range all {
		all[i] = int(s.Example(i)[0])
	}
	return all
}

func TestSplitSubsetShuffle(t *testing.T) {
	s := numbersSet(t, 10)
	first, rest := s.Split(0.7)
	if got := firsts(first); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("first part %v", got)
	}
	if got := firsts(rest); !slices.Equal(got, []int{7, 8, 9}) {
		t.Errorf("rest %v", got)
	}
	part, err := rest.Subset([]int{2, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := firsts(part); !slices.Equal(got, []int{9, 7, 7}) {
		t.Errorf("subset of a part %v", got)
	}
	if _, err := rest.Subset([]int{3}); err == nil {
		t.Error("index 3 of 3 examples was taken")
	}
	shuffled := s.Shuffled(1)
	got := firsts(shuffled)
	if !slices.Equal(got, firsts(s.Shuffled(1))) {
		t.Error("one seed gave two orders")
	}
	if slices.Equal(got, firsts(s)) || slices.Equal(got, firsts(s.Shuffled(2))) {
		t.Errorf("seed 1 gives %v", got)
	}
	for i := range shuffled.Len() {
		if shuffled.Label(i) != got[i]%3 {
			t.Errorf("example %d lost its label", got[i])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, firsts(s)) {
		t.Errorf("a shuffle is no permutation: %v", got)
	}
	for _, fraction := range []float64{-1, 0, 2} {
		a, b := s.Split(fraction)
		if a.Len()+b.Len() != 10 || (a.Len() != 0 && b.Len() != 0) {
			t.Errorf("Split(%v) gives %d and %d", fraction, a.Len(), b.Len())
		}
	}
	if s.First(3).Len() != 3 || s.First(99).Len() != 10 || s.First(-1).Len() != 0 {
		t.Error("First does not stop at the ends")
	}
}

func TestReshapeAndClasses(t *testing.T) {
	s := numbersSet(t, 4)
	if r, err := s.Reshape(1, 2, 1); err != nil || !slices.Equal(r.Shape(), []int{1, 2, 1}) {
		t.Errorf("Reshape(1, 2, 1): %v, %v", r, err)
	}
	for _, shape := range [][]int{{3}, {-1, -2}, {1 << 40, 1 << 40}, {0}} {
		if _, err := s.Reshape(shape...); err == nil {
			t.Errorf("Reshape(%v) was taken", shape)
		}
	}
	if _, err := s.WithClasses("a", "b"); err == nil {
		t.Error("two names for three classes were taken")
	}
	if c, err := s.WithClasses("a", "b", "c"); err != nil || c.Classes()[2] != "c" {
		t.Errorf("WithClasses: %v", err)
	}
}

func TestImage(t *testing.T) {
	s, err := FromSlices([][]float32{{0, 0.5, 1, 2, -1, 0, 0, 0, 0, 1, 1, 1}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		shape []int
		size  image.Point
		at    image.Point
		want  color.RGBA
	}{
		{"gray", []int{1, 3, 4}, image.Pt(4, 3), image.Pt(1, 0), color.RGBA{128, 128, 128, 255}},
		{"clipped", []int{3, 4}, image.Pt(4, 3), image.Pt(3, 0), color.RGBA{255, 255, 255, 255}},
		{"rgb", []int{3, 2, 2}, image.Pt(2, 2), image.Pt(1, 0), color.RGBA{128, 0, 255, 255}},
		{"vector", []int{12}, image.Pt(12, 1), image.Pt(0, 0), color.RGBA{85, 85, 85, 255}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := s.Reshape(tt.shape...)
			if err != nil {
				t.Fatal(err)
			}
			m := r.Image(0)
			if m.Bounds().Size() != tt.size {
				t.Errorf("size\n want %v\n got  %v", tt.size, m.Bounds().Size())
			}
			if got := color.RGBAModel.Convert(m.At(tt.at.X, tt.at.Y)); got != tt.want {
				t.Errorf("pixel %v\n want %v\n got  %v", tt.at, tt.want, got)
			}
		})
	}
}

func TestSetShowsItself(t *testing.T) {
	train, _, err := Digits()
	if err != nil {
		t.Fatal(err)
	}
	bundle := train.Report().MIMEBundle()
	if got, want := bundle["text/plain"], "digits, train: 1437 examples of shape [1 8 8], 10 classes"; got != want {
		t.Errorf("text\n want %q\n got  %q", want, got)
	}
	b, _ := bundle["image/png"].([]byte)
	sheet, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if size := sheet.Bounds().Size(); size.X < 400 || size.Y < 100 {
		t.Errorf("the sheet has %v pixels", size)
	}
	if svg, _ := bundle["image/svg+xml"].(string); !strings.Contains(svg, "1437 examples") {
		t.Error("the SVG does not say how many examples there are")
	}
	for _, s := range []*Dataset{numbersSet(t, 3), train.First(0)} {
		if _, ok := s.Report().MIMEBundle()["image/png"]; ok {
			t.Errorf("%v has a sheet", s)
		}
	}
}

func TestIndexOutsideTheSet(t *testing.T) {
	s := numbersSet(t, 3).First(2)
	for _, i := range []int{-1, 2} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "which has 2") {
					t.Errorf("example %d: %v", i, err)
				}
			}()
			s.Label(i)
		}()
	}
}

func TestWithLabelsAndAppend(t *testing.T) {
	set, err := FromSlices([][]float32{{0, 1}, {2, 3}, {4, 5}}, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	some, err := set.Subset([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	other, err := some.WithLabels([]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	doubled, err := other.Map(Normalize(0, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	all, err := doubled.Append([][]float32{{6, 7}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Example(2); !slices.Equal(got, []float32{6, 7}) {
		t.Errorf("the example appended is %v", got)
	}
	b, err := all.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.X.Data(), []float32{8, 10, 0, 2, 12, 14}; !slices.Equal(got, want) {
		t.Errorf("the batch is %v, want %v", got, want)
	}
	if got, want := b.Y.Ints(), []int{1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("the labels are %v, want %v", got, want)
	}
	if got := set.Label(2); got != 2 {
		t.Errorf("the set itself has now the label %d", got)
	}
	if got := all.First(1).Label(0); got != 1 {
		t.Errorf("the first label of a part is %d", got)
	}
}

func TestWithLabelsAndAppendRefuse(t *testing.T) {
	set, _ := FromSlices([][]float32{{0, 1}, {2, 3}}, []int{0, 1})
	targets, _ := FromTargets([][]float32{{0, 1}}, [][]float32{{1}})
	for name, f := range map[string]func() error{
		"too few labels":    func() error { _, err := set.WithLabels([]int{0}); return err },
		"label too large":   func() error { _, err := set.WithLabels([]int{0, 2}); return err },
		"label below 0":     func() error { _, err := set.WithLabels([]int{0, -1}); return err },
		"targets":           func() error { _, err := targets.WithLabels([]int{0}); return err },
		"ragged":            func() error { _, err := set.Append([][]float32{{1}}, []int{0}); return err },
		"label missing":     func() error { _, err := set.Append([][]float32{{1, 2}}, nil); return err },
		"appended label":    func() error { _, err := set.Append([][]float32{{1, 2}}, []int{7}); return err },
		"append to targets": func() error { _, err := targets.Append([][]float32{{1, 2}}, []int{0}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFromTensors(t *testing.T) {
	images := tensor.New([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 1, 2, 2)
	s, err := FromTensors(images, tensor.FromInts([]int{2, 0}, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Shape(), []int{1, 2, 2}) || len(s.Classes()) != 3 || s.Label(0) != 2 || !slices.Equal(s.Example(1), []float32{4, 5, 6, 7}) {
		t.Errorf("got %v: %v of class %d", s, s.Example(1), s.Label(0))
	}
	r, err := FromTensors(tensor.New([]float32{1, 2}, 2), tensor.New([]float32{3, 4, 5, 6}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Shape(), []int{1}) || !slices.Equal(r.Target(1), []float32{5, 6}) {
		t.Errorf("got %v with target %v", r, r.Target(1))
	}
	for name, tt := range map[string]struct {
		x, y *tensor.Tensor
		want string
	}{
		"nil":          {images, nil, "a tensor is nil"},
		"other length": {images, tensor.FromInts([]int{1}, 1), "shape [2 1 2 2] and [1]"},
		"scalar":       {tensor.Zeros(), tensor.Zeros(), "first dimension"},
		"empty":        {tensor.Zeros(2, 0), tensor.Zeros(2, 1), "have no elements"},
		"flat targets": {images, tensor.Zeros(2), "float32 labels of shape [2]"},
		"negative":     {images, tensor.FromInts([]int{0, -1}, 2), "label -1 of example 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := FromTensors(tt.x, tt.y); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want an error with %q, got %v", tt.want, err)
			}
		})
	}
}
