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
func (w *cellWriter) Write(p []byte) (int, error) { return w.of(w.session.goroutines.Cell()).Write(p) }

// route sets the streams of a session: one pair, or one for each cell.
func (s *Session) route() {
	if of := s.config.output; of != nil {
		s.config.stdout = &cellWriter{s, func(cell int) io.Writer { stdout, _ := of(cell); return stdout }}
		s.config.stderr = &cellWriter{s, func(cell int) io.Writer { _, stderr := of(cell); return stderr }}
	}
	s.processStdout, s.processStderr = os.Stdout, os.Stderr
	s.printed = &standardStream{&os.Stdout, os.Stdout, s.config.stdout}
}

// A standardStream is a stream of the session as long as no cell has set the file
// that it stands for to another: that is then written to, as in any program.
type standardStream struct {
	file   **os.File
	before *os.File
	to     io.Writer
}

// Write implements io.Writer.
func (w *standardStream) Write(p []byte) (int, error) {
	if f := *w.file; f != w.before {
		return f.Write(p)
	}
	return w.to.Write(p)
}

// standard is the session's stream where w is one of the process: what a cell
// prints to os.Stdout keeps its place among what it prints without it.
func (s *Session) standard(w io.Writer) io.Writer {
	switch w {
	case s.processStdout:
		return s.config.stdout
	case s.processStderr:
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
