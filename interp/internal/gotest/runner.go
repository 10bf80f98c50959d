package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/interp/internal/harness"
)

// A runner runs tests.
type runner struct {
	root    string        // $GOROOT/test
	program string        // program of the child processes
	limit   time.Duration // for one test; the CPU time of one that runs again
	jobs    int           // number of concurrent child processes
	oracle  *oracle
	known   failures
}

// run runs the named tests and returns their results in the same order. It calls progress
// for each result, from several goroutines but one call at a time.
func (g *runner) run(ctx context.Context, names []string, progress func(result)) ([]result, error) {
	results := make([]result, len(names))
	var mu sync.Mutex
	err := parallel(ctx, g.jobs, len(names), func(ctx context.Context, i int) error {
		v, err := g.one(ctx, names[i], g.limit)
		mu.Lock()
		defer mu.Unlock()
		results[i] = v
		progress(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	// A loaded machine is slow: a test that times out and is not known to do so is run
	// again, alone, with the limit as CPU time.
	for i, v := range results {
		if v.Outcome != timeout || g.known[v.Name].outcome == timeout {
			continue
		}
		if results[i], err = g.one(ctx, v.Name, loaded*g.limit); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// loaded is how many times slower a test may be on a loaded machine.
const loaded = 6

// one runs one test. Within the time allowed it may use g.limit of CPU time.
func (g *runner) one(ctx context.Context, name string, allowed time.Duration) (result, error) {
	dir, err := os.MkdirTemp("", "gotest")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return result{}, err
	}
	env := []string{
		fileVariable + "=" + filepath.Join(g.root, filepath.FromSlash(name)),
		reportVariable + "=" + path,
	}
	e, err := harness.Run(ctx, allowed, g.root, env, g.program)
	if err != nil {
		return result{}, err
	}
	e.Timeout = e.Timeout || allowed > g.limit && e.CPU > g.limit
	r, err := harness.ReadReport[report](path)
	if err != nil {
		return result{}, err
	}
	return g.oracle.classify(name, e, r)
}

// parallel calls f(0) … f(n-1), at most jobs of them concurrently. After the first error,
// which it returns, it starts no further call.
func parallel(ctx context.Context, jobs, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, i)
		})
	}
	return group.Wait()
}
