package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/interp/internal/harness"
)

// An outcome classifies how a program ended. See the package comment.
type outcome string

const (
	works    outcome = "works"
	rejected outcome = "rejected"
	differs  outcome = "differs"
	internal outcome = "internal error"
)

// A result is the outcome of a program with the reason.
type result struct {
	program program
	outcome outcome
	reason  string
	report  report
	output  string
}

// A runner runs programs.
type runner struct {
	self     string        // program of the child processes
	limit    time.Duration // for one program
	jobs     int           // number of concurrent child processes
	recorded bool          // compare with the recorded outputs, without compiling
}

// run runs programs. It calls progress for each result, one call at a time. The error is about the
// programs that have no result.
func (r *runner) run(ctx context.Context, programs []program, progress func(result)) ([]result, error) {
	var (
		mu      sync.Mutex
		results []result
		failed  []error
		group   errgroup.Group
	)
	group.SetLimit(r.jobs)
	for _, p := range programs {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			v, err := r.one(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
				return nil
			}
			results = append(results, v)
			progress(v)
			return nil
		})
	}
	failed = append(failed, group.Wait())
	return results, errors.Join(failed...)
}

// one runs one program, first compiled, and then in a session.
func (r *runner) one(ctx context.Context, p program) (result, error) {
	if !r.recorded {
		out, err := compiled(ctx, p, r.limit)
		if err != nil {
			return result{}, err
		}
		p.want = out
	}
	return r.interpreted(ctx, p)
}

func (r *runner) interpreted(ctx context.Context, p program) (result, error) {
	dir, err := os.MkdirTemp("", "modules")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return result{}, err
	}
	arguments := []string{childArgument}
	for _, f := range []struct{ name, text string }{{"commands", p.commands()}, {"main.go", p.source}, {"report.json", ""}} {
		name := filepath.Join(dir, f.name)
		if err := os.WriteFile(name, []byte(f.text), 0o600); err != nil {
			return result{}, err
		}
		arguments = append(arguments, name)
	}
	e, err := harness.Run(ctx, r.limit, work, environment, r.self, arguments...)
	if err != nil {
		return result{}, err
	}
	reported, err := harness.ReadReport[report](arguments[3])
	if err != nil {
		return result{}, err
	}
	if reported == nil {
		reported = &report{} // unfinished
	}
	return classify(p, e, *reported), nil
}

// classify compares how a child ended, and its report, with the compiled program.
func classify(p program, e harness.Ending, r report) result {
	v := result{program: p, report: r}
	_, v.output, _ = strings.Cut(e.Output, separator)
	switch {
	case e.Timeout:
		v.outcome, v.reason = internal, "it does not end"
	case !r.Finished && (e.Status < 0 || fatal.MatchString(e.Output)):
		v.outcome, v.reason = internal, "the process crashed: "+fatal.FindString(e.Output)
	case r.Kind == "internal error", strings.Contains(r.Message, rejectedCode):
		v.outcome, v.reason = internal, r.Message
	case r.Kind == "compile error":
		v.outcome, v.reason = rejected, r.Message
	case r.Kind != "":
		v.outcome, v.reason = differs, r.Kind+": "+r.Message
	case e.Status != 0:
		v.outcome, v.reason = differs, fmt.Sprintf("exit status %d", e.Status)
	case v.output != p.want:
		v.outcome, v.reason = differs, "it prints something else"
	default:
		v.outcome = works
	}
	return v
}

// rejectedCode is in the messages of the interpreter about code that the session made.
const rejectedCode = "the interpreter rejects lowered code"

// fatal matches the last messages of Go's runtime.
var fatal = regexp.MustCompile(`(?m)^(fatal error: |panic: |runtime: |unexpected fault address|SIG[A-Z]+: ).*`)
