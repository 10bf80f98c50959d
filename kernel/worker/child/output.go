package child

import (
	"io"
	"slices"
	"sync"

	"github.com/quernlab/quern/kernel/worker/mark"
)

// output writes marks into the two streams. It has its own duplicates of the descriptors,
// so a cell that closes or redirects 1 and 2 does not affect it.
type output struct {
	token   string
	streams [2]io.Writer

	mu      sync.Mutex // orders marks, and events relative to their marks
	number  uint64     // of the last mark written
	running int        // the running cell; 0 between cells
	last    int        // the stream that a cellWriter wrote to last
}

const (
	stdout = iota
	stderr
)

// begin writes the marks that say that output from here on belongs to a cell. The kernel
// process has sent the cell, but does not know when it begins: something that the cell
// before has started may still write to the pipes.
func (o *output) begin(cell int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = cell
	o.set(mark.Mark{Kind: mark.CellStart, Number: uint64(cell)})
}

// end records that the cell has ended and writes the marks after its output. Goroutines
// of the cell that continue to write must name it from now on.
func (o *output) end() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running = 0
	return o.both(mark.Flush)
}

// flush writes the marks after all output so far and returns their number.
func (o *output) flush() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.both(mark.Flush)
}

// both writes one executeMessage mark to both streams. An error means that the kernel process
// is gone, so nobody needs the mark.
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

// event writes marks where an event belongs and sends the event with their number.
func (o *output) event(send func(number uint64) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return send(o.both(mark.Event))
}

// cellWriter writes to one stream of one cell.
type cellWriter struct {
	output *output
	stream int
	cell   int // 0: the running cell
}

func (w cellWriter) Write(p []byte) (written int, err error) {
	o := w.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last != w.stream {
		o.last = w.stream
		o.both(mark.Switch)
	}
	if w.cell == 0 || w.cell == o.running {
		return o.streams[w.stream].Write(p)
	}
	before := mark.Mark{Kind: mark.Attribute, Number: uint64(w.cell)}.Append(nil, o.token)
	after := mark.Mark{Kind: mark.Attribute}.Append(nil, o.token)
	for part := range slices.Chunk(p, atomicWrite-len(before)-len(after)) {
		n, err := o.streams[w.stream].Write(slices.Concat(before, part, after))
		written += min(max(n-len(before), 0), len(part))
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// atomicWrite is how many bytes one write to a pipe may have so that no other write can
// come in between: PIPE_BUF, which is at least 512 on every system. What others write to
// the pipe at the same time must not end up between the two Attribute marks.
const atomicWrite = 512
