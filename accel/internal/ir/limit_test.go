package ir

import (
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
