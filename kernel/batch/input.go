package batch

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/quernlab/quern/kernel/link"
)

// input hands out the lines of a reader. A read that nobody waits for any more,
// since its cell was interrupted, serves the next one.
type input struct {
	start sync.Once
	from  io.Reader
	want  chan struct{}
	lines chan link.InputReply
	asked bool // a line was wanted and has not come
	some  bool // a line has come

	mu   sync.Mutex
	cell context.Context // ends when the running cell is to end
}

func newInput(from io.Reader) *input {
	return &input{from: from, want: make(chan struct{}, 1), lines: make(chan link.InputReply, 1)}
}

// begin tells until when the next cell may wait for a line.
func (i *input) begin(cell context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cell = cell
}

// line waits for the next line. One request is open at a time. That there is no
// input at all fails the cell; the end of an input is one to it.
func (i *input) line(ctx context.Context) (link.InputReply, error) {
	if i.from == nil {
		return link.InputReply{EOF: true}, nil
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
		}
		i.some = true
		return reply, nil
	case <-ctx.Done():
		return link.InputReply{}, ctx.Err()
	case <-cell.Done():
		return link.InputReply{}, cell.Err()
	}
}

// read reads a line whenever one is wanted, so that what no cell asks for is left
// to whoever reads next. It ends with the process: a read cannot be ended.
func (i *input) read() {
	r := bufio.NewReader(i.from)
	for range i.want {
		text, err := r.ReadString('\n')
		i.lines <- link.InputReply{Line: strings.TrimRight(text, "\r\n"), EOF: err != nil && text == ""}
	}
}
