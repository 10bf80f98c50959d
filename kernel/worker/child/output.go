package child

import (
	"io"
	"sync"

	"github.com/quernlab/quern/kernel/worker/mark"
)

// output sets marks in the two streams. Its own descriptors of the pipes are
// duplicates: a cell that closes or redirects 1 and 2 does not take them away.
type output struct {
	token string

	mu      sync.Mutex // orders marks, and events with their marks
	number  uint64     // of the last mark
	running int        // the cell that runs, or ran last
	streams [2]stream
	last    int // the stream that was written last through a cellWriter
}

const (
	stdout = iota
	stderr
)

type stream struct {
	w    io.Writer
	cell int // to which the output belongs by the last Begin mark
}

// set writes a mark into one stream. An error means that the front is gone, and
// then nobody misses the mark.
func (o *output) set(stream int, m mark.Mark) {
	_, _ = o.streams[stream].w.Write(m.Append(nil, o.token))
}

// attribute says that what follows on a stream belongs to cell.
func (o *output) attribute(stream, cell int) {
	o.streams[stream].cell = cell
	o.set(stream, mark.Mark{Kind: mark.Begin, Number: uint64(cell)})
}

func (o *output) begin(cell int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = cell
	o.attribute(stdout, cell)
	o.attribute(stderr, cell)
}

// end sets the marks behind all output so far and returns their number.
func (o *output) end() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.both(mark.End)
}

// both sets one mark in both streams.
func (o *output) both(kind mark.Kind) uint64 {
	o.number++
	m := mark.Mark{Kind: kind, Number: o.number}
	o.set(stdout, m)
	o.set(stderr, m)
	return o.number
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

func (w cellWriter) Write(p []byte) (int, error) {
	o := w.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last != w.stream {
		o.last = w.stream
		o.both(mark.Turn)
	}
	s := &o.streams[w.stream]
	if w.cell != 0 && w.cell != s.cell {
		o.attribute(w.stream, w.cell)
		// What is written without a cellWriter belongs to the running cell.
		defer func() { o.attribute(w.stream, o.running) }()
	}
	return s.w.Write(p)
}
