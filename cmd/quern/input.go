package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/quernlab/quern/kernel/link"
)

// lineReader is the standard input of cells: it asks the notebook for a line
// whenever a cell has read all of the last one.
type lineReader struct {
	notebook link.Notebook
	rank     int // only rank 0 asks
	mu       sync.Mutex
	rest     []byte
}

// errNoInput is for a front end that does not ask its user, and for a quern run
// without input.
var errNoInput = errors.New("the front end does not ask for input here (allow_stdin is false); " +
	"with quern run it is what stands behind <, and there is none")

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) { return r.ReadContext(context.Background(), p) }

// ReadContext gives what is left of the last line, or of a new one. It returns
// errNoInput when the front end cannot ask its user. Of a line that was asked for and
// given up, the answer is dropped.
func (r *lineReader) ReadContext(ctx context.Context, p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if r.rank > 0 {
		return 0, fmt.Errorf("rank %d has no input: read on rank 0, and give the others what they need", r.rank)
	}
	if len(r.rest) == 0 {
		// The front ends the wait when the cell is interrupted.
		reply, err := r.notebook.Input(ctx, link.InputRequest{})
		if err != nil {
			return 0, err
		}
		if reply.EOF {
			return 0, errNoInput
		}
		if reply.Line == link.EndOfInput {
			return 0, io.EOF
		}
		r.rest = append([]byte(reply.Line), '\n')
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
