package main

import (
	"fmt"
	"io"
	"sync"
)

// output is the standard output of a command. It remembers write errors: a command whose
// output is lost has failed.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error // the first error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = fmt.Errorf("standard output: %w", err)
		}
	}
	return n, err
}

// failure returns the first write error, or nil.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
