package ranks

import (
	"context"
	"errors"
	"sync"

	"github.com/quernlab/quern/kernel/link"
)

// once passes the outcomes of the steps that only rank 0 executes to the other ranks.
type once struct {
	mu      sync.Mutex
	cell    int
	over    bool                   // rank 0 has finished the cell
	steps   map[int]link.OnceReply // that rank 0 has executed
	changed chan struct{}          // closed at each change
}

func newOnce() *once { return &once{changed: make(chan struct{})} }

func (o *once) update(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
	close(o.changed)
	o.changed = make(chan struct{})
}

// begin records that a cell begins.
func (o *once) begin(cell int) {
	o.update(func() { o.cell, o.over, o.steps = cell, false, map[int]link.OnceReply{} })
}

// end records that rank 0 has finished the cell. It is not called if the cell has failed
// there: the other ranks are interrupted then, and wait for that.
func (o *once) end() { o.update(func() { o.over = true }) }

// done records the outcome of a step on rank 0.
func (o *once) done(r link.OnceRequest) {
	o.update(func() {
		if r.Cell == o.cell {
			o.steps[r.Step] = link.OnceReply{Output: r.Output, Error: r.Error}
		}
	})
}

// errNotDone reports a step that rank 0 did not execute.
var errNotDone = errors.New("rank 0 ended the cell before this step")

// wait waits for the outcome of a step.
func (o *once) wait(ctx context.Context, r link.OnceRequest) (link.OnceReply, error) {
	for {
		o.mu.Lock()
		reply, done := o.steps[r.Step]
		same, over, changed := r.Cell == o.cell, o.over, o.changed
		o.mu.Unlock()
		switch {
		case same && done:
			return reply, nil
		case !same || over:
			return link.OnceReply{}, errNotDone
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return link.OnceReply{}, ctx.Err()
		}
	}
}
