package kernel

import (
	"log/slog"
	"strings"
	"testing"
)

// blockedWriter blocks each write until the test receives it.
type blockedWriter chan string

func (w blockedWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// A log that nobody reads blocks nobody, and reports how many records were dropped.
func TestLogIsNotRead(t *testing.T) {
	t.Parallel()
	w := make(blockedWriter)
	h := newAsyncHandler(slog.NewTextHandler(w, nil))
	log := slog.New(h).With("a", 1).WithGroup("g")
	const dropped = 100
	for i := range 1 + maxRecords + dropped {
		log.Info("message", "i", i)
		if i == 0 { // the goroutine is writing it, and the queue is empty
			for len(h.queue.waiting) > 0 {
				<-w
			}
		}
	}
	h.close() // waits for at most logDrain
	lines := 0
	for {
		line := <-w
		if strings.Contains(line, "log records were dropped") {
			break
		}
		if lines++; !strings.Contains(line, "a=1 g.i=") {
			t.Errorf("got %q", line)
		}
	}
	if lines < maxRecords || lines > maxRecords+1 {
		t.Errorf("%d lines", lines)
	}
	<-h.queue.done
}
