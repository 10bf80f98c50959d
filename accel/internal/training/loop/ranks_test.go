package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/history"
)

func TestNoteExchange(t *testing.T) {
	for _, c := range []struct {
		name           string
		waiting, total time.Duration
		want           string
	}{
		{"much", 3 * time.Second, 10 * time.Second, "communication-bound: 30 % of the time was spent waiting for the gradients of other ranks; a larger BatchSize, or Accumulate(4)"},
		{"little", time.Second, 10 * time.Second, ""},
		{"a short run", 300 * time.Millisecond, 900 * time.Millisecond, ""},
	} {
		record := history.NewRecorder(history.Setup{})
		record.Run().Time.CommunicationWait = c.waiting
		noteCommunication(record, c.total, 2)
		if got := strings.Join(record.Run().Notes, "\n"); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
