package batch

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/quernlab/quern/kernel/link"
)

// input reads lines from a reader for cells. If a cell is interrupted while it waits, the
// line is kept for the next read.
type input struct {
	start sync.Once
	from  io.Reader
	want  chan struct{}
	lines chan link.InputReply
	asked bool // a line was requested and has not arrived
	some  bool // at least one line has arrived

	mu   sync.Mutex
	cell context.Context // ends when the running cell should end
}

func newInput(from io.Reader) *input {
	return &input{from: from, want: make(chan struct{}, 1), lines: make(chan link.InputReply, 1)}
}

// begin sets the context until which the next cell may wait for a line.
func (i *input) begin(cell context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cell = cell
}

// line waits for the next line. One request is open at a time. If there is no input at
// all, the error fails the cell; at the end of the input the reply has EOF set.
func (i *input) line(ctx context.Context) (link.InputReply, error) {
	if i.from == nil {
		return link.InputReply{EOF: true, Reason: "no standard input: quern run passes it on only to one notebook that runs once: quern run nb.ipynb < input.txt"}, nil
	}
	i.mu.Lock()
	cell := i.cell
	i.mu.Unlock()
	i.start.Do(func() { go i.read() })
	if !i.asked {
		i.asked = true
		i.want <- struct{}{}
	}
	select {
	case reply := <-i.lines:
		i.asked = false
		if reply.EOF && i.some {
			reply = link.InputReply{Line: link.EndOfInput}
		} else if reply.EOF {
			reply.Reason = "standard input is empty, as /dev/null is: give the cells what they read: quern run nb.ipynb < input.txt"
		}
		i.some = true
		return reply, nil
	case <-ctx.Done():
		return link.InputReply{}, ctx.Err()
	case <-cell.Done():
		return link.InputReply{}, cell.Err()
	}
}

// read reads a line only when one is requested, so that the remaining input is left to
// other programs. It runs until the end of the process, because a read cannot be
// canceled.
func (i *input) read() {
	r := bufio.NewReader(i.from)
	for range i.want {
		text, err := r.ReadString('\n')
		i.lines <- link.InputReply{Line: strings.TrimRight(text, "\r\n"), EOF: err != nil && text == ""}
	}
}
