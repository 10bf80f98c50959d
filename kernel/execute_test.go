package kernel

import (
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

func TestAborts(t *testing.T) {
	t.Parallel()
	start := time.Now()
	s := &abortPoint{replied: start}
	for _, row := range []struct {
		name     string
		received time.Duration // after the reply went out
		want     bool
	}{
		{"queued", -3 * time.Millisecond, true},
		{"just before the reply", -1, true},
		{"just after it", 1, false},
		{"long after", time.Second, false},
	} {
		if got := s.aborts(&request{received: start.Add(row.received)}); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	var none *abortPoint
	if none.aborts(&request{}) {
		t.Error("a cell is stopped by none")
	}
}

// A cell that a client sends after it has read the reply to a failed cell runs, however
// fast the client is and whatever its clock shows.
func TestClocksOfClients(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{0, -time.Millisecond, -900 * time.Millisecond, -time.Hour, 900 * time.Millisecond, time.Hour} {
		k := &Kernel{}
		// The failed cell and its reply, then a cell that comes in at once.
		replied := time.Now()
		k.abort = &abortPoint{replied: replied}
		next := &request{
			Message: &wire.Message{Header: wire.Header{Type: wire.ExecuteRequest, Date: replied.Add(off).Format(time.RFC3339Nano)}},
			channel: transport.Shell, received: replied.Add(time.Microsecond),
		}
		if k.abort.aborts(next) {
			t.Errorf("with a clock that is off by %v the next cell is stopped", off)
		}
	}
}
