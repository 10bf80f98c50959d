package kernel

import (
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

func TestStops(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms float64) time.Time { return start.Add(time.Duration(ms * float64(time.Millisecond))) }
	request := func(sent, received float64, skew time.Duration) *request {
		return &request{
			Message:  &wire.Message{Header: wire.Header{Date: at(sent).Add(skew).Format(time.RFC3339Nano)}},
			received: at(received),
		}
	}
	for _, row := range []struct {
		name           string
		sent, received float64 // milliseconds after the failing cell was sent
		skew           time.Duration
		want           bool
	}{
		{"queued", 0.1, 2, 0, true},
		{"in flight when the reply went out", 0.2, 6, 0, true},
		{"sent by who knew", 5.3, 6, 0, false},
		{"in flight for too long", 0.2, 30, 0, false},
		{"long after", 400, 401, 0, false},
		{"queued, with a clock that is off", 0.1, 2, time.Hour, true},
		{"in flight, with a clock that is ahead", 0.2, 6, time.Hour, true},
		{"in flight, with a clock that is behind", 0.2, 6, -time.Hour, true},
		{"sent by who knew, with a clock that is behind", 5.3, 6, -time.Hour, false},
		{"sent by who knew, with a clock that is ahead", 5.3, 6, time.Hour, false},
	} {
		s := &stop{cell: request(0, 1, row.skew), replied: at(5)}
		if got := s.stops(request(row.sent, row.received, row.skew)); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
	var none *stop
	if none.stops(request(0, 0, 0)) {
		t.Error("a cell is stopped by none")
	}
	odd := request(0, 6, 0)
	odd.Header.Date = "yesterday"
	if (&stop{cell: request(0, 1, 0), replied: at(5)}).stops(odd) {
		t.Error("a request without a date is stopped")
	}
}
