package worker

import (
	"cmp"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/quernlab/quern/kernel/worker/mark"
)

// stream reads one of the worker's output streams and passes the output to the notebook,
// with the cell that it belongs to.
type stream struct {
	index      int // stdout or stderr
	name       string
	begun      int           // the cell that the worker has begun last; 0 before the first one
	late       int           // the earlier cell that the output belongs to now; 0 for none
	running    *atomic.Int64 // the cell that the kernel process has sent last
	notebook   Notebook
	rendezvous *rendezvous
	crash      *crashFilter   // holds back crash reports; nil for stdout
	startup    *startupOutput // keeps the output before the worker is ready; nil for stdout
	log        *slog.Logger
}

// readBytes is the size of a pipe on Linux: one read can empty it.
const readBytes = 64 << 10

// run reads until the end of the stream, which comes when the last process that holds the
// pipe has exited.
func (s *stream) run(r io.Reader, token string) {
	defer s.rendezvous.end(s.index)
	scanner, buffer := mark.NewScanner(token), make([]byte, readBytes)
	for {
		n, err := r.Read(buffer)
		scanner.Scan(buffer[:n], s.output, s.found)
		s.rendezvous.progress()
		if err != nil {
			s.output(scanner.Rest())
			return
		}
	}
}

func (s *stream) output(text []byte) {
	// The worker marks the start of each cell. Output before that mark belongs to the
	// previous cell, even if the kernel process has already sent the next one.
	cell := cmp.Or(s.late, s.begun, int(s.running.Load()))
	if s.startup != nil {
		s.startup.add(text)
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
		s.crash.release() // a process that still writes marks has not crashed
	}
	waited := true
	switch m.Kind {
	case mark.CellStart:
		s.begun, s.late = int(m.Number), 0
	case mark.Attribute:
		s.late = int(m.Number)
	case mark.Event:
		s.rendezvous.reach(s.index, m.Number)
		waited = s.rendezvous.awaitEvent(m.Number)
	case mark.Switch:
		s.rendezvous.reach(s.index, m.Number)
		waited = s.rendezvous.awaitOther(s.index, m.Number)
	case mark.Flush:
		s.rendezvous.reach(s.index, m.Number)
	}
	if !waited {
		s.log.Warn("output may be out of order", "stream", s.name, "mark", m.Number)
	}
}
