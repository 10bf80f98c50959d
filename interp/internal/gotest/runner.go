package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A gauge runs tests.
type gauge struct {
	root    string        // $GOROOT/test
	program string        // what to start as the child
	limit   time.Duration // of a file
	jobs    int           // children at a time
	oracle  *oracle
	known   failures
}

// run runs the named tests and returns a verdict for each, in their order.
// progress is called for each result, from several goroutines one at a time.
func (g *gauge) run(ctx context.Context, names []string, progress func(verdict)) ([]verdict, error) {
	verdicts := make([]verdict, len(names))
	var mu sync.Mutex
	err := parallel(ctx, g.jobs, len(names), func(ctx context.Context, i int) error {
		v, err := g.one(ctx, names[i])
		mu.Lock()
		defer mu.Unlock()
		verdicts[i] = v
		progress(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	// A machine with other work is slow: what is new among the time-outs gets a
	// second try, alone.
	for i, v := range verdicts {
		if v.Outcome != timeout || g.known[v.Name].outcome == timeout {
			continue
		}
		if verdicts[i], err = g.one(ctx, v.Name); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// one runs a test.
func (g *gauge) one(ctx context.Context, name string) (verdict, error) {
	dir, err := os.MkdirTemp("", "gotest")
	if err != nil {
		return verdict{}, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return verdict{}, err
	}
	env := []string{
		fileVariable + "=" + filepath.Join(g.root, filepath.FromSlash(name)),
		reportVariable + "=" + path,
	}
	e, err := run(ctx, g.limit, g.root, env, g.program)
	if err != nil {
		return verdict{}, err
	}
	r, err := readReport(path)
	if err != nil {
		return verdict{}, err
	}
	return g.oracle.classify(name, e, r)
}

// parallel calls f(0) … f(n-1), some at a time, and returns the first error, after
// which no further call begins.
func parallel(ctx context.Context, jobs, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
