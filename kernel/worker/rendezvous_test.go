package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// A wait for a mark that never comes ends, but not while the worker is stopped by a
// signal.
func TestRendezvousWaitsForAStoppedWorker(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	again := make(chan struct{})
	m := newRendezvous(func() bool {
		if asked.Add(1) == 3 {
			close(again)
			return false
		}
		return true
	})
	m.timeout = time.Millisecond
	if m.awaitOutput(context.Background(), 1) {
		t.Error("a mark was found that was never written")
	}
	select {
	case <-again:
	default:
		t.Errorf("asked %d times whether the worker is stopped", asked.Load())
	}
	m.reach(stdout, 1)
	m.end(stderr)
	if !m.awaitOutput(context.Background(), 1) {
		t.Error("the mark was not found")
	}
}
