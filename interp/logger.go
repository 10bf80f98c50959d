package interp

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"reflect"
	"regexp"
	"sync"

	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/yaegi"
)

// A placeWriter is what a logger of package log writes to: with the flags
// Lshortfile and Llongfile a logger tells a place in the interpreter, in whose
// stead it writes that of the cell that called package log. The stack of the
// goroutine, which a web server logs where a handler panics, is that of the cell too.
type placeWriter struct {
	session *Session
	out     io.Writer
	logger  *log.Logger
	depths  sync.Map // by goroutine: how far above the caller of package log the place is that Output wants
}

// Write implements io.Writer. A logger writes whole lines.
func (w *placeWriter) Write(p []byte) (int, error) {
	n := len(p)
	p = w.withoutInterpreter(p)
	if written, err := w.writePlace(p); err != nil {
		return min(written, n), err
	}
	return n, nil
}

// withoutInterpreter is a message where the stack of a goroutine that runs code of
// cells is as debug.Stack gives it to a cell.
func (w *placeWriter) withoutInterpreter(p []byte) []byte {
	at := loggedStack.FindIndex(p)
	if at == nil || !yaegi.RunsLoweredCode(p[at[1]:]) {
		return p
	}
	return append(bytes.Clone(p[:at[0]]), w.session.tracebacks.StackText()...)
}

var loggedStack = regexp.MustCompile(`(?m)^goroutine \d+ \[running\]:$`)

// writePlace writes a line with the place in a cell, if it has one.
func (w *placeWriter) writePlace(p []byte) (int, error) {
	flags := w.logger.Flags()
	if flags&(log.Lshortfile|log.Llongfile) == 0 {
		return w.out.Write(p)
	}
	start := 0
	if flags&log.Lmsgprefix == 0 {
		start += len(w.logger.Prefix())
	}
	if flags&log.Ldate != 0 {
		start += len("2006/01/02 ")
	}
	switch {
	case flags&log.Lmicroseconds != 0:
		start += len("15:04:05.000000 ")
	case flags&log.Ltime != 0:
		start += len("15:04:05 ")
	}
	var place []int
	if start <= len(p) {
		place = logPlace.FindIndex(p[start:])
	}
	if place == nil {
		return w.out.Write(p)
	}
	depth, _ := w.depths.Load(stack.Goroutine(stack.Own()))
	above, _ := depth.(int)
	f, ok := w.session.tracebacks.Caller(above)
	if !ok {
		f.File = "???" // as log has it
	}
	line := fmt.Appendf(append([]byte{}, p[:start]...), "%s:%d: ", f.File, f.Line)
	if _, err := w.out.Write(append(line, p[start+place[1]:]...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

var logPlace = regexp.MustCompile(`^.*?:\d+: `)

// setLogOutput is logger.SetOutput(w).
func (s *Session) setLogOutput(logger *log.Logger, w io.Writer) {
	logger.SetOutput(&placeWriter{session: s, out: w, logger: logger})
}

// logOutput is logger.Output(depth, text).
func (s *Session) logOutput(logger *log.Logger, depth int, text string) error {
	if w, ok := logger.Writer().(*placeWriter); ok && depth > 1 {
		id := stack.Goroutine(stack.Own())
		w.depths.Store(id, depth-1)
		defer w.depths.Delete(id)
	}
	return logger.Output(depth, text)
}

// watchLog has the standard logger tell places in cells.
func (s *Session) watchLog() {
	if _, ok := log.Writer().(*placeWriter); !ok {
		s.setLogOutput(log.Default(), log.Writer())
	}
}

// logging are the functions of package log that make a logger or change the
// standard one.
func (s *Session) logging() map[string]reflect.Value {
	return map[string]reflect.Value{
		"New": reflect.ValueOf(func(w io.Writer, prefix string, flags int) *log.Logger {
			logger := log.New(nil, prefix, flags)
			s.setLogOutput(logger, w)
			return logger
		}),
		"Default": reflect.ValueOf(func() *log.Logger {
			s.watchLog()
			return log.Default()
		}),
		"SetFlags": reflect.ValueOf(func(flags int) {
			s.watchLog()
			log.SetFlags(flags)
		}),
		"Output":    reflect.ValueOf(func(depth int, text string) error { return s.logOutput(log.Default(), depth, text) }),
		"SetOutput": reflect.ValueOf(func(w io.Writer) { s.setLogOutput(log.Default(), w) }),
	}
}
