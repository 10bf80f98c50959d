package data_test

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/data"
)

// squares is a source whose example i has the values i and i², and the class i modulo 2.
type squares struct {
	n      int
	broken int // this example fails; 0 for none
	reads  atomic.Int64
}

func (s *squares) Len() int { return s.n }

var errBroken = errors.New("the file is on a disk that is gone")

func (s *squares) Example(i int) (data.Example, error) {
	s.reads.Add(1)
	if s.broken > 0 && i == s.broken {
		return data.Example{}, errBroken
	}
	return data.Example{X: []float32{float32(i), float32(i * i)}, Class: i % 2}, nil
}

// known is a source that knows its classes.
type known struct{ *squares }

func (k known) Label(i int) int { return i % 2 }

// read returns the values of all batches in order.
func read(t *testing.T, it *data.Batches) (x []float32, labels []int) {
	t.Helper()
	for it.Next() {
		x = append(x, it.Batch().X.Data()...)
		labels = append(labels, it.Batch().Y.Ints()...)
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return x, labels
}

func TestFromSource(t *testing.T) {
	source := &squares{n: 10}
	set, err := data.FromSource(source, "even", "odd")
	if err != nil {
		t.Fatal(err)
	}
	part, err := set.Named("squares").Subset([]int{3, 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 3} {
		if x, labels := read(t, part.Batches(1, data.Workers(workers))); !slices.Equal(x, []float32{3, 9, 9, 81}) || !slices.Equal(labels, []int{1, 1}) {
			t.Errorf("got %v, classes %v", x, labels)
		}
	}
	if got := source.reads.Load(); got != 5 {
		t.Errorf("%d reads of examples, want 5: one at first, and one for each example of a batch", got)
	}
	before := source.reads.Load()
	knows, err := data.FromSource(known{source}, "even", "odd")
	if err != nil {
		t.Fatal(err)
	}
	if got := knows.Counts(); !slices.Equal(got, []int{5, 5}) || source.reads.Load() != before+1 {
		t.Errorf("the classes %v were counted with %d reads", got, source.reads.Load()-before)
	}
}

func TestErrorsOfASource(t *testing.T) {
	source := &squares{n: 10, broken: 7}
	set, err := data.FromSource(source, "even", "odd")
	if err != nil {
		t.Fatal(err)
	}
	it := set.Named("squares").Batches(4, data.Workers(2))
	batches := 0
	for it.Next() {
		batches++
	}
	var example *data.ExampleError
	if err := it.Err(); !errors.As(err, &example) || !errors.Is(err, errBroken) || example.Example != 7 || batches != 1 {
		t.Errorf("after %d batches: %v", batches, err)
	}
	if want := "data: example 7 of squares: the file is on a disk that is gone"; it.Err().Error() != want {
		t.Errorf("got %v, want %s", it.Err(), want)
	}
	one, err := data.FromSource(&squares{n: 10}, "even")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Tensors(); err == nil || !strings.Contains(err.Error(), "example 1 of examples: its class is 1, but the classes are 0 to 0") {
		t.Errorf("a class without a name: %v", err)
	}
	for want, make := range map[string]func() (*data.Dataset, error){
		"the source is nil":                 func() (*data.Dataset, error) { return data.FromSource(nil) },
		"no examples":                       func() (*data.Dataset, error) { return data.FromSource(&squares{}, "a") },
		"have no targets: name the classes": func() (*data.Dataset, error) { return data.FromSource(&squares{n: 1}) },
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestCached(t *testing.T) {
	source := &squares{n: 8}
	plain, err := data.FromSource(source, "even", "odd")
	if err != nil {
		t.Fatal(err)
	}
	scaled, err := plain.Map(data.Normalize(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	want, wantLabels := read(t, scaled.Batches(3, data.Shuffle(1), data.Epoch(4)))
	for _, row := range []struct{ bytes, readsPerEpoch int }{{1 << 20, 0}, {4 * 2 * 5, 3}, {0, 8}} {
		cached, err := scaled.Cached(row.bytes)
		if err != nil {
			t.Fatal(err)
		}
		read(t, cached.Batches(3))
		before := source.reads.Load()
		x, labels := read(t, cached.Batches(3, data.Shuffle(1), data.Epoch(4)))
		if !slices.Equal(x, want) || !slices.Equal(labels, wantLabels) {
			t.Errorf("%d bytes: got %v, %v, want %v, %v", row.bytes, x, labels, want, wantLabels)
		}
		if got := int(source.reads.Load() - before); got != row.readsPerEpoch {
			t.Errorf("%d bytes: %d reads in the second epoch, want %d", row.bytes, got, row.readsPerEpoch)
		}
	}
	image, err := plain.Reshape(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	flipped, err := image.Map(data.RandomHorizontalFlip())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flipped.Cached(100); err == nil || !strings.Contains(err.Error(), "map it after Cached") {
		t.Errorf("a random transform is cached: %v", err)
	}
}

func TestOpenImages(t *testing.T) {
	folder := t.TempDir()
	for i := range 6 {
		write(t, filepath.Join(folder, string("ab"[i%2]), fmt.Sprintf("%d.png", i)), painted(t, color.RGBA{uint8(40 * i), 0, 51, 255}))
	}
	eager, err := data.Images(folder, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	lazy, err := data.OpenImages(folder, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	cached, err := lazy.Cached(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want, wantLabels := read(t, eager.Batches(4, data.Shuffle(3)))
	for _, set := range []*data.Dataset{lazy, cached, cached} {
		if x, labels := read(t, set.Batches(4, data.Shuffle(3))); !slices.Equal(x, want) || !slices.Equal(labels, wantLabels) {
			t.Errorf("%v differs from Images", set)
		}
		if got := set.Path(3); got != filepath.Join(folder, "b", "1.png") || got != eager.Path(3) {
			t.Errorf("the file of example 3 is %s", got)
		}
	}
	broken := lazy.Path(2)
	if err := os.WriteFile(broken, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	var example *data.ExampleError
	var format *data.FormatError
	if _, err := lazy.Tensors(); !errors.As(err, &example) || !errors.As(err, &format) || example.Example != 2 || example.Path != broken || format.Path != broken {
		t.Errorf("a damaged file: %v", err)
	}
	if x, _ := read(t, cached.Batches(4, data.Shuffle(3))); !slices.Equal(x, want) {
		t.Error("the cached images were read again")
	}
	empty := filepath.Join(folder, "c")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := data.OpenImages(folder, 2, 3); !errors.As(err, &format) || format.Path != empty {
		t.Errorf("a class without images: %v", err)
	}
	if _, err := data.Images(empty, 2, 3); !errors.As(err, &format) || format.Path != empty {
		t.Errorf("an empty folder: %v", err)
	}
}

// slowSource is a source that takes a millisecond for each example.
type slowSource struct{ squares }

func (s *slowSource) Example(i int) (data.Example, error) {
	time.Sleep(time.Millisecond)
	return s.squares.Example(i)
}

// The time of the workers is added up, whether somebody waits for them or not.
func TestMaking(t *testing.T) {
	t.Parallel()
	set, err := data.FromSource(&slowSource{squares{n: 12}}, "even", "odd")
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 3} {
		it := set.Batches(4, data.Workers(workers))
		for it.Next() {
		}
		if it.Making() < 12*time.Millisecond {
			t.Errorf("%d workers: made in %v, want at least 12 ms", workers, it.Making())
		}
	}
}
