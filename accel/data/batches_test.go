package data

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/tensor"
)

// order returns the first value of each example in the order of the iteration, and the sizes of the
// batches.
func order(t *testing.T, it *Batches) (examples, sizes []int) {
	t.Helper()
	for it.Next() {
		b := it.Batch()
		sizes = append(sizes, b.Len())
		x, y := b.X.Data(), b.Y.Ints()
		for i, index := range b.Index {
			if int(x[2*i]) != index && it.set.index == nil {
				t.Errorf("example %d came as %v", index, x[2*i])
			}
			if int(x[2*i])%3 != y[i] {
				t.Errorf("example %v came with label %d", x[2*i], y[i])
			}
			examples = append(examples, int(x[2*i]))
		}
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return examples, sizes
}

func TestBatches(t *testing.T) {
	ten := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	tests := []struct {
		name     string
		size     int
		options  []Option
		examples []int
		sizes    []int
	}{
		{"the last is smaller", 4, nil, ten, []int{4, 4, 2}},
		{"the last is dropped", 4, []Option{DropLast()}, ten[:8], []int{4, 4}},
		{"no rest", 5, []Option{DropLast()}, ten, []int{5, 5}},
		{"one batch", 10, nil, ten, []int{10}},
		{"larger than the set", 1 << 40, nil, ten, []int{10}},
		{"larger, last dropped", 11, []Option{DropLast()}, ten, []int{10}},
		{"single examples", 1, nil, ten, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := numbersSet(t, 10).Batches(tt.size, tt.options...)
			if it.Count() != len(tt.sizes) {
				t.Errorf("Count\n want %d\n got  %d", len(tt.sizes), it.Count())
			}
			examples, sizes := order(t, it)
			if !slices.Equal(examples, tt.examples) || !slices.Equal(sizes, tt.sizes) {
				t.Errorf("want %v in %v\n got  %v in %v", tt.examples, tt.sizes, examples, sizes)
			}
			if it.Next() {
				t.Error("Next after the end")
			}
		})
	}
}

func TestOrderIsEqualForAnyNumberOfWorkers(t *testing.T) {
	s := numbersSet(t, 100).First(97)
	want, _ := order(t, s.Batches(8, Workers(0), Shuffle(7)))
	sorted := slices.Sorted(slices.Values(want))
	if slices.Equal(want, sorted) || !slices.Equal(sorted, firsts(s)) {
		t.Fatalf("no shuffle: %v", want)
	}
	for _, n := range []int{-1, 1, 2, 4, 50} {
		if got, _ := order(t, s.Batches(8, Workers(n), Shuffle(7))); !slices.Equal(got, want) {
			t.Errorf("%d workers\n want %v\n got  %v", n, want, got)
		}
	}
	if got, _ := order(t, s.Batches(8, Shuffle(7), Epoch(1))); slices.Equal(got, want) {
		t.Error("two rounds have one order")
	}
}

func TestBatchSizeBelowOne(t *testing.T) {
	it := numbersSet(t, 3).Batches(0)
	if it.Next() || !errors.Is(it.Err(), ErrBatchSize) {
		t.Errorf("got %v", it.Err())
	}
	if it := numbersSet(t, 3).First(0).Batches(4); it.Next() || it.Err() != nil {
		t.Errorf("an empty set: %v", it.Err())
	}
}

func TestContextEndsTheIteration(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	it := numbersSet(t, 10).Batches(2, Context(ctx))
	if !it.Next() {
		t.Fatal(it.Err())
	}
	cancel()
	if it.Next() || !errors.Is(it.Err(), context.Canceled) {
		t.Errorf("after the end of the context: %v", it.Err())
	}
	if it.Next() || it.Batch().X != nil {
		t.Error("the iteration went on")
	}
	if !strings.Contains(it.String(), "context canceled") {
		t.Errorf("%v does not say why it ended", it)
	}
}

// gate is a source that reports when an example is requested and waits for permission to return it.
type gate struct {
	source
	reading chan int
	open    chan struct{}
}

func (g gate) read(i int, v values) error {
	g.reading <- i
	<-g.open
	return g.source.read(i, v)
}

// TestBatchesAreMadeAhead checks that the second batch is read while the first is in use, and that
// an abandoned iteration leaves no goroutine behind.
func TestBatchesAreMadeAhead(t *testing.T) {
	s := numbersSet(t, 4)
	g := gate{s.source, make(chan int, 4), make(chan struct{})}
	s.source = g
	tensor.Zeros(1).AddScalar(1).Item() // starts the engine's goroutines, which stay
	before := runtime.NumGoroutine()
	it := s.Batches(1, Workers(2))
	go func() { g.open <- struct{}{} }()
	if !it.Next() {
		t.Fatal(it.Err())
	}
	<-g.reading
	ahead := []int{<-g.reading, <-g.reading} // without a call of Next
	slices.Sort(ahead)
	if !slices.Equal(ahead, []int{1, 2}) {
		t.Errorf("read ahead: %v", ahead)
	}
	close(g.open)
	for deadline := time.Now().Add(5 * time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestRegressionBatches(t *testing.T) {
	s, err := FromTargets([][]float32{{1, 2}, {3, 4}, {5, 6}}, [][]float32{{10}, {20}, {30}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Tensors()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.X.Shape(), []int{3, 2}) || !slices.Equal(b.Y.Shape(), []int{3, 1}) {
		t.Errorf("shapes %v and %v", b.X.Shape(), b.Y.Shape())
	}
	if !slices.Equal(b.Y.Data(), []float32{10, 20, 30}) {
		t.Errorf("targets %v", b.Y.Data())
	}
	if got := s.Target(1); !slices.Equal(got, []float32{20}) {
		t.Errorf("target 1 is %v", got)
	}
	if _, err := s.First(0).Tensors(); err == nil {
		t.Error("an empty set gave tensors")
	}
}

func BenchmarkBatches(b *testing.B) {
	train, _, err := Digits()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		it := train.Batches(256, Shuffle(1))
		for it.Next() {
		}
	}
	b.ReportMetric(float64(train.Len()*b.N)/b.Elapsed().Seconds(), "examples/s")
}
