package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// A subshell (JEP 91) is an additional lane that a client creates, and names in the
// headers of the requests for it. For example, a front end creates one for each kind of
// widget, so that one kind does not wait for another. A session runs one cell at a time,
// so cells wait for each other whichever subshell they name.
type subshell struct {
	queue *queue
	end   context.CancelFunc
}

// subshells are the existing subshells.
type subshells struct {
	mu    sync.Mutex
	start func(*queue) context.CancelFunc // starts a goroutine for a queue; nil once the kernel shuts down
	open  map[string]subshell
}

// maxSubshells bounds the memory for a client that creates subshells and never deletes
// them.
const maxSubshells = 256

// serve allows subshells to be created until ctx ends. Each runs serve on a goroutine of
// loops.
func (s *subshells) serve(ctx context.Context, loops *sync.WaitGroup, serve func(context.Context, *queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start = func(q *queue) context.CancelFunc {
		ctx, end := context.WithCancel(ctx)
		loops.Go(func() { serve(ctx, q) })
		return end
	}
}

// close ends all subshells. No new ones can be created.
func (s *subshells) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start = nil
	for _, shell := range s.open {
		shell.end()
	}
	clear(s.open)
}

func (s *subshells) create() (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.start == nil:
		return "", errors.New("the kernel is shutting down")
	case len(s.open) >= maxSubshells:
		return "", fmt.Errorf("there are %d subshells, which is the limit: delete some", len(s.open))
	}
	if s.open == nil {
		s.open = map[string]subshell{}
	}
	id = uuid.NewString()
	q := newQueue()
	s.open[id] = subshell{q, s.start(q)}
	return id, nil
}

func (s *subshells) remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	shell, ok := s.open[id]
	if !ok {
		return &SubshellError{id}
	}
	shell.end()
	delete(s.open, id)
	return nil
}

func (s *subshells) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.open))
	for id := range s.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// find returns the queue of a subshell, or nil if it does not exist.
func (s *subshells) find(id string) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id].queue
}

// SubshellError reports a subshell that does not exist or has been deleted.
type SubshellError struct{ ID string }

func (e *SubshellError) Error() string { return fmt.Sprintf("there is no subshell %q", e.ID) }
