package kernel

import (
	"context"
	"errors"
	"sync"
)

// errInterrupted is the error of a wait for input that was interrupted.
var errInterrupted = errors.New("interrupted")

// input is the state of a request for a line from the user.
type input struct {
	asking sync.Mutex // held while a request is open

	mu    sync.Mutex
	cell  *execution              // the cell that has asked; nil if there is none
	id    string                  // message id of the open input_request; empty if there is none
	stop  context.CancelCauseFunc // ends the wait; nil if there is none
	lines chan string             // the reply
}

// open begins a wait for the reply to the request id of a cell.
func (i *input) open(cell *execution, id string, stop context.CancelCauseFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cell, i.id, i.stop = cell, id, stop
	select { // drop the reply to an earlier request that nobody waits for
	case <-i.lines:
	default:
	}
}

// answer accepts the reply to the request id and reports whether it was expected. Clients
// need not name the request that they answer.
func (i *input) answer(id, line string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.id == "" || id != "" && id != i.id {
		return false
	}
	i.id = ""
	i.lines <- line
	return true
}

// interrupt ends the wait for input of a cell if there is one.
func (i *input) interrupt(cell *execution) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cell == cell && i.stop != nil {
		i.stop(errInterrupted)
	}
}
