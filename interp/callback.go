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
	running map[*goroutine.Run]bool
}

// NewCallbacks returns the callbacks of a session.
func NewCallbacks(s *Session) *Callbacks {
	return &Callbacks{goroutines: s.goroutines, flag: s.flag, awaiter: s.executor.awaiter, running: map[*goroutine.Run]bool{}}
}

// Guard returns a function that runs f as part of the cell that calls Guard, on a separate
// goroutine, even after the end of that cell: the output of f belongs to the cell. A
// panic in f is reported there and fails the next cell, or the one that runs. The function returns when f has returned,
// panicked or called runtime.Goexit.
func (c *Callbacks) Guard(f func()) func() {
	cell := 0
	if r := c.goroutines.Run(); r != nil {
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
			c.goroutines.Protect(&goroutine.Member{Run: r}, "a handler", f)
		}()
		<-ended
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, r)
		if r.IsStopped() {
			c.awaiter.EndGoroutines(r)
			c.flag.Lower()
		}
	}
}

// Interrupt ends the callbacks that are running, as soon as their code allows. A callback that
// waits for a channel continues to wait in the background.
func (c *Callbacks) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.running {
		if !r.IsStopped() {
			c.flag.Raise()
			r.Stop()
		}
	}
}
