package stream

import (
	"io"
	"os"

	"github.com/quernlab/quern/interp/goroutine"
)

// An Output is the destination of the output of cells.
type Output struct {
	stdout, stderr io.Writer
	printed        io.Writer
	of             Streams
	// What os.Stdout and os.Stderr were before any cell set them.
	processStdout, processStderr *os.File
}

// Streams returns the streams of a cell. Cell 0 stands for goroutines that belong to none.
type Streams func(cell int) (stdout, stderr io.Writer)

// members finds the member that the calling goroutine belongs to.
type members interface {
	Current() *goroutine.Member
}

// NewOutput returns an Output with one pair of streams; or, if of is not nil, with those of
// the cell that the writing goroutine belongs to.
func NewOutput(stdout, stderr io.Writer, of Streams, m members) *Output {
	o := &Output{stdout: stdout, stderr: stderr, of: of, processStdout: os.Stdout, processStderr: os.Stderr}
	if of != nil {
		o.stdout = &cellWriter{m, func(cell int) io.Writer { stdout, _ := of(cell); return stdout }}
		o.stderr = &cellWriter{m, func(cell int) io.Writer { _, stderr := of(cell); return stderr }}
	}
	o.printed = &fileStream{&os.Stdout, os.Stdout, o.stdout}
	return o
}

// Stdout returns the standard output of the session.
func (o *Output) Stdout() io.Writer { return o.stdout }

// Stderr returns the standard error of the session.
func (o *Output) Stderr() io.Writer { return o.stderr }

// Printed returns the writer that fmt.Print and its like write to: the standard output of
// the session, or the file to which a cell has set os.Stdout.
func (o *Output) Printed() io.Writer { return o.printed }

// StdoutOf returns the standard output of a cell.
func (o *Output) StdoutOf(cell int) io.Writer {
	if o.of == nil {
		return o.stdout
	}
	w, _ := o.of(cell)
	return w
}

// StderrOf returns the standard error of a cell.
func (o *Output) StderrOf(cell int) io.Writer {
	if o.of == nil {
		return o.stderr
	}
	_, w := o.of(cell)
	return w
}

// Replace returns the stream of the session if w is a standard file of the process, and
// otherwise w. So what a cell writes to os.Stdout stays in order with what it prints.
func (o *Output) Replace(w io.Writer) io.Writer {
	switch w {
	case o.processStdout:
		return o.stdout
	case o.processStderr:
		return o.stderr
	}
	return w
}

// A cellWriter writes to the stream of the cell that the calling goroutine belongs to.
type cellWriter struct {
	members members
	of      func(cell int) io.Writer
}

// Write implements io.Writer.
func (w *cellWriter) Write(p []byte) (int, error) {
	cell := 0
	if m := w.members.Current(); m != nil {
		cell = m.Cell
	}
	return w.of(cell).Write(p)
}

// A fileStream writes to a stream of the session until a cell sets the variable file,
// which is os.Stdout; after that it writes to the new file, as a program does.
type fileStream struct {
	file   **os.File
	before *os.File
	to     io.Writer
}

// Write implements io.Writer.
func (w *fileStream) Write(p []byte) (int, error) {
	if f := *w.file; f != w.before {
		return f.Write(p)
	}
	return w.to.Write(p)
}
