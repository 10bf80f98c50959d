package ir

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestCollect waits for what a clean-up closes, and not for the limit.
func TestCollect(t *testing.T) {
	small := make([]*int64, 1000) // what memory of a few bytes would be shared with
	for i := range small {
		small[i] = new(int64)
		if i%50 == 0 && !collect(time.Minute) {
			t.Fatal("the clean-up did not run")
		}
	}
}

// TestCollectAll has clean-ups that take longer than the one that collect waits for
// first.
func TestCollectAll(t *testing.T) {
	const n = 100
	for range 20 {
		var ran atomic.Int64
		for i := range n {
			runtime.AddCleanup(new([64]byte), func(i int) {
				for range i % 7 {
					runtime.Gosched()
				}
				ran.Add(1)
			}, i)
		}
		if !collect(time.Minute) {
			t.Fatal("the clean-ups did not run")
		}
		// The last one may still be in a register or in the frame of the loop.
		if missing := n - ran.Load(); missing > 1 {
			t.Fatalf("%d of %d clean-ups did not run", missing, n)
		}
	}
}
