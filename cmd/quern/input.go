package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/quernlab/quern/kernel/link"
)

// lineReader is the standard input of cells. It asks the notebook for a line when a cell
// has read all of the last one.
type lineReader struct {
	notebook link.Notebook
	rank     int // only rank 0 can ask
	mu       sync.Mutex
	rest     []byte
}

// errNoInput reports a front end that does not ask its user.
var errNoInput = errors.New("the front end does not ask for input here (allow_stdin is false)")

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) { return r.ReadContext(context.Background(), p) }

// ReadContext reads the rest of the last line or of a new one. It returns errNoInput if
// the front end cannot ask its user. If ctx ends while it waits for a line, the reply is
// dropped.
func (r *lineReader) ReadContext(ctx context.Context, p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if r.rank > 0 {
		return 0, fmt.Errorf("rank %d has no input: read it on rank 0 and send it to the others", r.rank)
	}
	if len(r.rest) == 0 {
		// The kernel process ends the wait when the cell is interrupted.
		reply, err := r.notebook.Input(ctx, link.InputRequest{})
		if err != nil {
			return 0, err
		}
		if reply.EOF && reply.Reason != "" {
			return 0, errors.New(reply.Reason)
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
