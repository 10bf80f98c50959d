package worker

import (
	"cmp"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/quernlab/quern/kernel/worker/mark"
)

// stream reads one of the worker's output streams and hands the output to the
// notebook, with the cell that it belongs to.
type stream struct {
	index    int // stdout or stderr
	name     string
	begun    int           // the cell that the worker has begun last; 0 before the first
	late     int           // the earlier cell that what comes now belongs to; 0 for none
	running  *atomic.Int64 // the cell that the front has sent last
	notebook Notebook
	meeting  *meeting
	crash    *crash // of stderr: keeps the report of a crash back; else nil
	first    *first // of stderr: keeps what comes before the worker serves; else nil
	log      *slog.Logger
}

// readBytes is the size of a pipe on Linux: one read empties it.
const readBytes = 64 << 10

// run reads until the stream ends, which it does when the last process that
// holds it has ended.
func (s *stream) run(r io.Reader, token string) {
	defer s.meeting.end(s.index)
	scanner, buffer := mark.NewScanner(token), make([]byte, readBytes)
	for {
		n, err := r.Read(buffer)
		scanner.Scan(buffer[:n], s.output, s.found)
		s.meeting.progress()
		if err != nil {
			s.output(scanner.Rest())
			return
		}
	}
}

func (s *stream) output(text []byte) {
	// The worker says when it begins a cell: until then output belongs to the one
	// before, whatever the front has sent meanwhile.
	cell := cmp.Or(s.late, s.begun, int(s.running.Load()))
	if s.first != nil {
		s.first.add(text)
	}
	if s.crash != nil {
		text = s.crash.filter(cell, text)
	}
	if len(text) > 0 {
		s.notebook.Stream(cell, s.name, text)
	}
}

func (s *stream) found(m mark.Mark) {
	if s.crash != nil {
		s.crash.release() // a process that sets marks has not crashed
	}
	waited := true
	switch m.Kind {
	case mark.Cell:
		s.begun, s.late = int(m.Number), 0
	case mark.Begin:
		s.late = int(m.Number)
	case mark.Meet:
		s.meeting.reach(s.index, m.Number)
		waited = s.meeting.event(m.Number)
	case mark.Turn:
		s.meeting.reach(s.index, m.Number)
		waited = s.meeting.other(s.index, m.Number)
	case mark.End:
		s.meeting.reach(s.index, m.Number)
	}
	if !waited {
		s.log.Warn("output may be out of order", "stream", s.name, "mark", m.Number)
	}
}
