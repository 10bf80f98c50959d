package interp

import (
	"io"
	"os"
)

// A cellWriter writes to the stream of the cell that the calling goroutine comes
// from.
type cellWriter struct {
	session *Session
	of      func(cell int) io.Writer
}

// Write implements io.Writer.
func (w *cellWriter) Write(p []byte) (int, error) { return w.of(w.session.Cell()).Write(p) }

// Cell is the number of the cell that the calling goroutine comes from, also
// through goroutines of compiled code; 0 when it comes from none.
func (s *Session) Cell() int {
	if m := s.members.current(); m != nil {
		return m.cell
	}
	return 0
}

// route sets the streams of a session: one pair, or one for each cell.
func (s *Session) route() {
	of := s.config.output
	if of == nil {
		return
	}
	s.config.stdout = &cellWriter{s, func(cell int) io.Writer { stdout, _ := of(cell); return stdout }}
	s.config.stderr = &cellWriter{s, func(cell int) io.Writer { _, stderr := of(cell); return stderr }}
}

// standard is the session's stream where w is one of the process: what a cell
// prints to os.Stdout keeps its place among what it prints without it.
func (s *Session) standard(w io.Writer) io.Writer {
	switch w {
	case os.Stdout:
		return s.config.stdout
	case os.Stderr:
		return s.config.stderr
	}
	return w
}

// stderr is the standard error stream of a cell.
func (s *Session) stderr(cell int) io.Writer {
	if s.config.output == nil {
		return s.config.stderr
	}
	_, w := s.config.output(cell)
	return w
}
