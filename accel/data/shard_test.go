package data_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/data"
)

// TestShardDividesEachBatch compares the parts of all ranks with the batches without Shard.
func TestShardDividesEachBatch(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64, 65} {
		x, labels := make([][]float32, n), make([]int, n)
		for i := range x {
			x[i], labels[i] = []float32{float32(i), 1}, i%3
		}
		set, err := data.FromSlices(x, labels)
		if err != nil {
			t.Fatal(err)
		}
		resident, err := set.OnDevice()
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{1, 2, 3, 4, 8} {
			for _, size := range []int{1, 3, 8, 100} {
				for _, s := range []*data.Dataset{set, resident} {
					testShard(t, s, ranks, size)
				}
			}
		}
	}
}

func testShard(t *testing.T, set *data.Dataset, ranks, size int) {
	t.Helper()
	name := fmt.Sprintf("%d examples, %d ranks, batches of %d", set.Len(), ranks, size)
	whole := set.Batches(size, data.Shuffle(5), data.Epoch(2))
	parts := make([]*data.Batches, ranks)
	for r := range parts {
		parts[r] = set.Batches(size, data.Shuffle(5), data.Epoch(2), data.Shard(r, ranks))
	}
	for whole.Next() {
		want := whole.Batch()
		got, share := make([]int, want.Len()), 0.0
		least, most := want.Len(), 0
		for r, p := range parts {
			if !p.Next() {
				t.Fatalf("%s: rank %d has ended: %v", name, r, p.Err())
			}
			b := p.Batch()
			if b.Whole != want.Len() || (b.X == nil) != (b.Len() == 0) || (b.Y == nil) != (b.Len() == 0) {
				t.Fatalf("%s: rank %d has %d of %d examples", name, r, b.Len(), b.Whole)
			}
			share += b.Share()
			least, most = min(least, b.Len()), max(most, b.Len())
			for i, e := range b.Index {
				got[r+i*ranks] = e
				if x := b.X.Data(); int(x[2*i]) != e || int(b.Y.Data()[i]) != e%3 {
					t.Fatalf("%s: rank %d, example %d has X %v", name, r, e, x)
				}
			}
		}
		if !slices.Equal(got, want.Index) {
			t.Fatalf("%s: got %v, want %v", name, got, want.Index)
		}
		if share < 1-1e-12 || share > 1+1e-12 || most-least > 1 {
			t.Fatalf("%s: shares are %v together, parts have %d to %d examples", name, share, least, most)
		}
	}
	for r, p := range parts {
		if p.Next() || p.Err() != nil {
			t.Fatalf("%s: rank %d goes on: %v", name, r, p.Err())
		}
	}
}

func TestShardOfNoRank(t *testing.T) {
	set, err := data.FromSlices([][]float32{{1}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []data.Option{data.Shard(2, 2), data.Shard(-1, 2), data.Shard(1, 0), data.Shard(0, -1)} {
		if it := set.Batches(1, o); it.Next() || it.Err() == nil {
			t.Errorf("%v: %v", o, it.Err())
		}
	}
}
