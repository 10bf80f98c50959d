package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// A wait for a mark that never comes ends, but not while the worker is stopped.
func TestMeetingWaitsForAStoppedWorker(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	again := make(chan struct{})
	m := newMeeting(func() bool {
		if asked.Add(1) == 3 {
			close(again)
			return false
		}
		return true
	})
	m.patience = time.Millisecond
	if m.output(context.Background(), 1) {
		t.Error("a mark was read that nobody has set")
	}
	select {
	case <-again:
	default:
		t.Errorf("asked %d times whether the worker is stopped", asked.Load())
	}
	m.reach(stdout, 1)
	m.end(stderr)
	if !m.output(context.Background(), 1) {
		t.Error("the mark was not found")
	}
}
