package library

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"sync"

	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/stream"
	"github.com/quernlab/quern/interp/yaegi"
)

// loggers makes the loggers of package log show lines of cells as positions.
type loggers struct{ tracebacks Tracebacks }

// A lineWriter is the writer of a logger of package log. With the flags Lshortfile and
// Llongfile, a logger writes a line of the interpreter; the lineWriter replaces it by the line
// of the cell that called package log. It also replaces the stack of a goroutine, which a web
// server logs if a handler panics, by the stack of the cell.
type lineWriter struct {
	tracebacks Tracebacks
	out        io.Writer
	logger     *log.Logger
	depths     sync.Map // by goroutine: how many calls above the caller of package log the line is, for log.Output
}

// Write implements io.Writer. A logger writes whole lines.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	p = w.withoutInterpreter(p)
	if written, err := w.writeLine(p); err != nil {
		return min(written, n), err
	}
	return n, nil
}

// withoutInterpreter returns a message in which the stack of a goroutine that runs code of
// cells is as debug.Stack returns it to a cell.
func (w *lineWriter) withoutInterpreter(p []byte) []byte {
	at := loggedStack.FindIndex(p)
	if at == nil || !yaegi.RunsCells(p[at[1]:]) {
		return p
	}
	return append(bytes.Clone(p[:at[0]]), w.tracebacks.StackText()...)
}

var loggedStack = regexp.MustCompile(`(?m)^goroutine \d+ \[running\]:$`)

// writeLine writes a message with the line of a cell, if it names one.
func (w *lineWriter) writeLine(p []byte) (int, error) {
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
	var file []int
	if start <= len(p) {
		file = logFile.FindIndex(p[start:])
	}
	if file == nil {
		return w.out.Write(p)
	}
	depth, _ := w.depths.Load(stack.Goroutine(stack.Own()))
	above, _ := depth.(int)
	f, ok := w.tracebacks.Caller(above)
	if !ok {
		f.File = "???" // as package log does
	}
	line := fmt.Appendf(append([]byte{}, p[:start]...), "%s:%d: ", f.File, f.Line)
	if _, err := w.out.Write(append(line, p[start+file[1]:]...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

var logFile = regexp.MustCompile(`^.*?:\d+: `)

// setOutput is logger.SetOutput(w).
func (l *loggers) setOutput(logger *log.Logger, w io.Writer) {
	logger.SetOutput(&lineWriter{tracebacks: l.tracebacks, out: w, logger: logger})
}

// write is logger.Output(depth, text).
func (l *loggers) write(logger *log.Logger, depth int, text string) error {
	if w, ok := logger.Writer().(*lineWriter); ok && depth > 1 {
		id := stack.Goroutine(stack.Own())
		w.depths.Store(id, depth-1)
		defer w.depths.Delete(id)
	}
	return logger.Output(depth, text)
}

// watch makes the standard logger name lines of cells.
func (l *loggers) watch() {
	if _, ok := log.Writer().(*lineWriter); !ok {
		l.setOutput(log.Default(), log.Writer())
	}
}

// functions returns the functions of package log that make a logger or change the standard
// one, and methods of loggers.
func (l *loggers) functions(out *stream.Output) Packages {
	return Packages{
		"log/log": functionsOf(map[string]any{
			"New": func(w io.Writer, prefix string, flags int) *log.Logger {
				logger := log.New(nil, prefix, flags)
				l.setOutput(logger, w)
				return logger
			},
			"Default": func() *log.Logger {
				l.watch()
				return log.Default()
			},
			"SetFlags": func(flags int) {
				l.watch()
				log.SetFlags(flags)
			},
			"Output":    func(depth int, text string) error { return l.write(log.Default(), depth, text) },
			"SetOutput": func(w io.Writer) { l.setOutput(log.Default(), w) },
		}),
		rt.Methods: functionsOf(map[string]any{
			"(*log.Logger).Output":    l.write,
			"(*log.Logger).SetOutput": func(logger *log.Logger, w io.Writer) { l.setOutput(logger, out.Replace(w)) },
		}),
	}
}

// A printer has the functions of package fmt that write to a writer or scan, and methods
// of os.File.
type printer struct {
	in  *stream.Input
	out *stream.Output
}

func (p *printer) functions() Packages {
	return Packages{
		rt.Methods: functionsOf(map[string]any{
			"(*os.File).Read":        func(f *os.File, b []byte) (int, error) { return p.in.Replace(f).Read(b) },
			"(*os.File).Write":       func(f *os.File, b []byte) (int, error) { return p.out.Replace(f).Write(b) },
			"(*os.File).WriteString": func(f *os.File, text string) (int, error) { return io.WriteString(p.out.Replace(f), text) },
		}),
		"fmt/fmt": functionsOf(map[string]any{
			"Print":   func(a ...any) (int, error) { return fmt.Fprint(p.out.Printed(), a...) },
			"Printf":  func(format string, a ...any) (int, error) { return fmt.Fprintf(p.out.Printed(), format, a...) },
			"Println": func(a ...any) (int, error) { return fmt.Fprintln(p.out.Printed(), a...) },
			"Fprint":  func(w io.Writer, a ...any) (int, error) { return fmt.Fprint(p.out.Replace(w), a...) },
			"Fprintf": func(w io.Writer, format string, a ...any) (int, error) {
				return fmt.Fprintf(p.out.Replace(w), format, a...)
			},
			"Fprintln": func(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(p.out.Replace(w), a...) },
			"Scan":     func(a ...any) (int, error) { return fmt.Fscan(p.in.Current(), a...) },
			"Scanf":    func(format string, a ...any) (int, error) { return fmt.Fscanf(p.in.Current(), format, a...) },
			"Scanln":   func(a ...any) (int, error) { return fmt.Fscanln(p.in.Current(), a...) },
			"Fscan":    func(r io.Reader, a ...any) (int, error) { return fmt.Fscan(p.in.Replace(r), a...) },
			"Fscanf": func(r io.Reader, format string, a ...any) (int, error) {
				return fmt.Fscanf(p.in.Replace(r), format, a...)
			},
			"Fscanln": func(r io.Reader, a ...any) (int, error) { return fmt.Fscanln(p.in.Replace(r), a...) },
		}),
	}
}

// exits implements the functions that end the process. In a cell that is a program, they end
// the program.
type exits struct {
	goroutines Goroutines
	loggers    *loggers
}

func (e *exits) functions() Packages {
	exit := map[string]any{"Exit": e.goroutines.Exit}
	return Packages{
		"os/os":           functionsOf(exit),
		"syscall/syscall": functionsOf(exit),
		"log/log": functionsOf(map[string]any{
			"Fatal":   func(v ...any) { e.fatal(log.Default(), fmt.Sprint(v...)) },
			"Fatalf":  func(format string, v ...any) { e.fatal(log.Default(), fmt.Sprintf(format, v...)) },
			"Fatalln": func(v ...any) { e.fatal(log.Default(), fmt.Sprintln(v...)) },
		}),
		rt.Methods: functionsOf(map[string]any{
			"(*log.Logger).Fatal":   func(l *log.Logger, v ...any) { e.fatal(l, fmt.Sprint(v...)) },
			"(*log.Logger).Fatalf":  func(l *log.Logger, format string, v ...any) { e.fatal(l, fmt.Sprintf(format, v...)) },
			"(*log.Logger).Fatalln": func(l *log.Logger, v ...any) { e.fatal(l, fmt.Sprintln(v...)) },
		}),
	}
}

// fatal is l.Fatal.
func (e *exits) fatal(l *log.Logger, text string) {
	// Package log ignores the error of the writer here too.
	_ = e.loggers.write(l, 1, text)
	e.goroutines.Exit(1)
}
