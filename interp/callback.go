package interp

import (
	"sync"

	"github.com/quernlab/quern/interp/goroutine"
)

// Callbacks are functions of cells that something else than a cell calls: what a
// widget does when it is moved, for instance. An interrupt ends those that run.
type Callbacks struct {
	session *Session

	mu      sync.Mutex
	running map[*goroutine.Run]bool
}

// NewCallbacks returns the callbacks of a session.
func NewCallbacks(s *Session) *Callbacks {
	return &Callbacks{session: s, running: map[*goroutine.Run]bool{}}
}

// Guard makes a function that runs f as a part of the cell that calls Guard, on a
// goroutine of its own and also after the end of that cell: what f prints belongs
// to the cell, and its panic is reported there and ends nothing else. The function
// returns when f has ended, in whatever way.
func (c *Callbacks) Guard(f func()) func() {
	s := c.session
	cell := 0
	if r := s.goroutines.Run(); r != nil {
		cell = r.Cell
	}
	return func() {
		r := goroutine.NewRun(cell)
		c.mu.Lock()
		c.running[r] = true
		c.mu.Unlock()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.goroutines.Enter(&goroutine.Member{Run: r})
			defer func() {
				if v := recover(); v != nil {
					s.goroutines.ReportPanic(cell, v)
				}
			}()
			f()
		}()
		<-ended
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, r)
		if r.IsStopped() {
			s.flag.Lower()
		}
	}
}

// Interrupt ends the callbacks that run, as soon as their code allows. One that
// waits for a channel goes on waiting: nothing waits for it.
func (c *Callbacks) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.running {
		if !r.IsStopped() {
			c.session.flag.Raise()
			r.Stop()
		}
	}
}
