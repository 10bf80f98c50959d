package interp

import "io"

// A cellWriter writes to the stream of the cell that the calling goroutine
// belongs to.
type cellWriter struct {
	goroutines *goroutines
	of         func(cell int) io.Writer
}

// Write implements io.Writer.
func (w *cellWriter) Write(p []byte) (int, error) {
	cell := 0
	if m := w.goroutines.current(); m != nil {
		cell = m.cell
	}
	return w.of(cell).Write(p)
}

// route sets the streams of a session: one pair, or one for each cell.
func (s *Session) route() {
	of := s.config.output
	if of == nil {
		return
	}
	s.config.stdout = &cellWriter{&s.goroutines, func(cell int) io.Writer { stdout, _ := of(cell); return stdout }}
	s.config.stderr = &cellWriter{&s.goroutines, func(cell int) io.Writer { _, stderr := of(cell); return stderr }}
}

// stderr is the standard error stream of a cell.
func (s *Session) stderr(cell int) io.Writer {
	if s.config.output == nil {
		return s.config.stderr
	}
	_, w := s.config.output(cell)
	return w
}
