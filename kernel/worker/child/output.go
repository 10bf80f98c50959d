package child

import (
	"io"
	"slices"
	"sync"

	"github.com/quernlab/quern/kernel/worker/mark"
)

// output sets marks in the two streams. Its own descriptors of the pipes are
// duplicates: a cell that closes or redirects 1 and 2 does not take them away.
type output struct {
	token   string
	streams [2]io.Writer

	mu      sync.Mutex // orders marks, and events with their marks
	number  uint64     // of the last mark
	running int        // the cell that runs; 0 between cells
	last    int        // the stream that was written last through a cellWriter
}

const (
	stdout = iota
	stderr
)

// begin sets the marks from which on output belongs to a cell. The front has sent
// the cell, but does not know when it begins: something of the cell before may still
// write to the pipes.
func (o *output) begin(cell int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = cell
	o.set(mark.Mark{Kind: mark.Cell, Number: uint64(cell)})
}

// end tells that the cell has ended, and sets the marks behind its output. What
// is left of it names itself from now on: the front may be at the next one.
func (o *output) end() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = 0
	return o.both(mark.End)
}

// here sets the marks behind all output so far and returns their number.
func (o *output) here() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.both(mark.End)
}

// both sets one mark in both streams. An error means that the front is gone, and
// then nobody misses the mark.
func (o *output) both(kind mark.Kind) uint64 {
	o.number++
	o.set(mark.Mark{Kind: kind, Number: o.number})
	return o.number
}

// set writes a mark to both streams.
func (o *output) set(m mark.Mark) {
	text := m.Append(nil, o.token)
	for _, w := range o.streams {
		_, _ = w.Write(text)
	}
}

// meet sets marks where an event belongs and sends the event with their number.
func (o *output) meet(send func(number uint64) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return send(o.both(mark.Meet))
}

// cellWriter writes to one stream of one cell.
type cellWriter struct {
	output *output
	stream int
	cell   int // 0: the cell that runs
}

func (w cellWriter) Write(p []byte) (written int, err error) {
	o := w.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last != w.stream {
		o.last = w.stream
		o.both(mark.Turn)
	}
	if w.cell == 0 || w.cell == o.running {
		return o.streams[w.stream].Write(p)
	}
	before := mark.Mark{Kind: mark.Begin, Number: uint64(w.cell)}.Append(nil, o.token)
	after := mark.Mark{Kind: mark.Begin}.Append(nil, o.token)
	for part := range slices.Chunk(p, atomicWrite-len(before)-len(after)) {
		n, err := o.streams[w.stream].Write(slices.Concat(before, part, after))
		written += min(max(n-len(before), 0), len(part))
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// atomicWrite is how many bytes a write to a pipe may have so that no other write can
// come between them: PIPE_BUF of Linux, and no system has less than 512. What others
// write to the pipe meanwhile must not land between two marks.
const atomicWrite = 512
