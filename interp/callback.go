package interp

import (
	"sync"

	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/goroutine"
)

// Callbacks runs functions of cells that are called outside of cells, such as the function
// that a widget calls when the user moves it. An interrupt ends those that are running.
type Callbacks struct {
	goroutines *control.Goroutines
	flag       *control.StopFlag
	awaiter    *control.Awaiter

	mu      sync.Mutex
	running map[*goroutine.Run]func() // value: ends the effect of Interrupt; nil before it
}

// NewCallbacks returns the callbacks of a session.
func NewCallbacks(s *Session) *Callbacks {
	return &Callbacks{goroutines: s.goroutines, flag: s.flag, awaiter: s.executor.awaiter, running: map[*goroutine.Run]func(){}}
}

// Guard returns a function that runs f as part of the cell that calls Guard, on a separate
// goroutine, even after the end of that cell: the output of f belongs to the cell. A
// panic in f is reported there and fails the next cell, or the one that runs. The function returns when f has returned,
// panicked or called runtime.Goexit.
func (c *Callbacks) Guard(f func()) func() {
	c.goroutines.AddHandler()
	cell := 0
	if r := c.goroutines.Run(); r != nil {
		cell = r.Cell
	}
	return func() {
		r := goroutine.NewRun(cell)
		c.mu.Lock()
		c.running[r] = nil
		c.mu.Unlock()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.goroutines.Protect(&goroutine.Member{Run: r}, "a handler", f)
		}()
		<-ended
		c.mu.Lock()
		defer c.mu.Unlock()
		if end := c.running[r]; end != nil {
			c.awaiter.EndGoroutines(r)
			end()
		}
		delete(c.running, r)
	}
}

// Interrupt ends the callbacks that are running, as soon as their code allows. A callback that
// waits for a channel continues to wait in the background.
func (c *Callbacks) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.running {
		if r.IsStopped() {
			continue
		}
		r.Stop()
		raised := false
		forget := r.WhenReturned(func() { c.flag.Raise(); raised = true })
		c.running[r] = func() {
			if forget(); raised {
				c.flag.Lower()
			}
		}
		go c.awaiter.EndCalls(r) // ends with the calls
	}
}
