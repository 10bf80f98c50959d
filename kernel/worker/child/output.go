package child

import (
	"io"
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

// begin tells that a cell runs. The front knows, and takes what comes without a
// mark for its output.
func (o *output) begin(cell int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = cell
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
	m := mark.Mark{Kind: kind, Number: o.number}.Append(nil, o.token)
	for _, w := range o.streams {
		_, _ = w.Write(m)
	}
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
	if w.cell == 0 || w.cell == o.running {
		return o.streams[w.stream].Write(p)
	}
	// In one piece: what others write without a cellWriter belongs to the cell
	// that runs.
	before := mark.Mark{Kind: mark.Begin, Number: uint64(w.cell)}.Append(nil, o.token)
	marked := mark.Mark{Kind: mark.Begin}.Append(append(before, p...), o.token)
	n, err := o.streams[w.stream].Write(marked)
	return min(max(n-len(before), 0), len(p)), err
}
