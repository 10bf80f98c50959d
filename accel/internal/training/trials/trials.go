// Package trials runs independent jobs, such as the trainings of a comparison, side by side on the ranks of a group.
package trials

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
)

// Run calls do for n jobs, numbered from 0, and returns their results on all ranks. Rank r of a group of N ranks runs the jobs r, r+N and so
// on; without a group, this process runs all. After each N jobs the ranks exchange the results.
//
// If a job fails on any rank, all ranks return an error, and the results up to that of the job which failed, the first
// if there are several. A rank whose ctx is done stops the others after their jobs; one that is lost stops them with a
// [*parallel.LostError]. After a panic in do, which continues, the group cannot be used any more.
//
// A result is sent to the other ranks by package gob.
func Run[T any](ctx context.Context, group *parallel.Group, n int, do func(job int) (T, error)) (results []T, err error) {
	if group == nil || group.Size() == 1 {
		for job := range n {
			result, err := do(job)
			results = append(results, result)
			if err != nil {
				return results, err
			}
		}
		return results, nil
	}
	returned := false
	defer func() {
		if !returned {
			group.Fail(fmt.Errorf("a trial has panicked"))
		}
	}()
	back, err := (&loop.Settings{Group: group}).UseDevice()
	if err == nil {
		results, err = run(ctx, group, n, do)
		if failed := back(); err == nil {
			err = failed
		}
	} else {
		group.Fail(err)
	}
	returned = true
	return results, err
}

// report is what a rank sends about its job.
type report[T any] struct {
	Ran         bool // the rank had a job
	Result      T
	Failed      string // the error of the job
	Interrupted bool
}

// fail adds the error of a job to its report.
func (r *report[T]) fail(err error) {
	if err != nil {
		r.Failed, r.Interrupted = err.Error(), interrupt.Is(err)
	}
}

// err returns the error of a report, which names its rank. For that of this rank, it wraps the original error.
func (r *report[T]) err(rank int, here bool, own error) error {
	switch {
	case r.Interrupted && !here:
		own = context.Canceled
	case !here:
		return fmt.Errorf("rank %d: %s", rank, r.Failed)
	}
	if r.Interrupted {
		return fmt.Errorf("rank %d was interrupted: %w", rank, own)
	}
	return fmt.Errorf("rank %d: %w", rank, own)
}

func run[T any](ctx context.Context, group *parallel.Group, n int, do func(job int) (T, error)) (results []T, err error) {
	for first := 0; first < n; first += group.Size() {
		mine := report[T]{}
		var own error
		if job := first + group.Rank(); job < n {
			mine.Ran = true
			if own = ctx.Err(); own == nil {
				mine.Result, own = do(job)
			}
		} else {
			own = ctx.Err()
		}
		mine.fail(own)
		all, err := exchange(ctx, group, mine)
		if err != nil {
			return results, fmt.Errorf("results of the ranks: %w", err)
		}
		for rank, r := range all {
			if r.Ran {
				if rank == group.Rank() {
					r = mine // its result as it is, not as it was sent
				}
				results = append(results, r.Result)
			}
			if r.Failed != "" {
				return results, r.err(rank, rank == group.Rank(), own)
			}
		}
	}
	return results, nil
}

// leaveTime is how long a rank that was interrupted waits for the jobs of the others.
const leaveTime = 5 * time.Second

// exchange returns the reports of all ranks.
func exchange[T any](ctx context.Context, group *parallel.Group, mine report[T]) ([]report[T], error) {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(mine); err != nil {
		group.Fail(err)
		return nil, err
	}
	bounded, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveTime, cancel) })()
	texts, err := group.AllGather(bounded, text.Bytes())
	if err != nil {
		if done := ctx.Err(); done != nil {
			err = fmt.Errorf("%w: %w", done, err)
		}
		return nil, err
	}
	all := make([]report[T], len(texts))
	for i, text := range texts {
		if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&all[i]); err != nil {
			return nil, fmt.Errorf("decode the result of rank %d: %w", i, err)
		}
	}
	return all, nil
}

// Call is what the ranks compare before the first job.
type Call struct {
	Arguments string           // as text
	NewModel  func() nn.Module // returns an untrained model; nil if the call has none
	Sets      []*data.Dataset  // nil ones are left out
}

// described is a call, as it is sent to other ranks.
type described struct {
	Arguments string
	Subject   loop.Subject
}

// Same fails on all ranks unless they make the same call: with the same arguments, data sets, and layers and initial weights of a model.
// failed is the error with which this rank cannot begin, nil for none. The others get it too, with the number of the rank; if no rank
// can begin, each gets its own, unchanged. After an error the group can still be used, unless it was broken before.
//
// It calls NewModel once, for the same random numbers on all ranks, and does not change the random numbers of the jobs.
func Same(ctx context.Context, group *parallel.Group, call Call, failed error) error {
	if group == nil || group.Size() == 1 {
		return failed
	}
	returned := false
	defer func() {
		if !returned {
			group.Fail(errors.New("the function that creates a model has panicked"))
		}
	}()
	var mine report[described]
	if failed == nil {
		failed = ctx.Err()
	}
	if failed == nil {
		mine.Result, failed = call.describe(ctx)
	}
	returned = true
	mine.fail(failed)
	all, err := exchange(ctx, group, mine)
	if err != nil {
		return errors.Join(failed, err)
	}
	if !slices.ContainsFunc(all, func(r report[described]) bool { return r.Failed == "" }) {
		return failed
	}
	for rank, r := range all {
		if r.Failed != "" {
			return r.err(rank, rank == group.Rank(), failed)
		}
	}
	for rank, r := range all {
		if mine, first := r.Result.Arguments, all[0].Result.Arguments; mine != first {
			return fmt.Errorf("rank %d runs other trials than rank 0: %s instead of %s: make the same call on all ranks", rank, mine, first)
		}
		if difference := r.Result.Subject.Difference(all[0].Result.Subject, "create the same model on all ranks, with random numbers of accel.Seed only"); difference != "" {
			return fmt.Errorf("rank %d differs from rank 0: %s: make the same call on all ranks", rank, difference)
		}
	}
	return nil
}

// random is locked while a rank uses the random numbers of the process, of which others may be goroutines.
var random sync.Mutex

// describe describes the call of this rank.
func (c Call) describe(ctx context.Context) (d described, err error) {
	defer nn.Catch(&err)
	random.Lock()
	defer random.Unlock()
	defer loop.KeepRandom()()
	tensors.Seed(1)
	d.Arguments = c.Arguments
	sets := slices.DeleteFunc(slices.Clone(c.Sets), func(s *data.Dataset) bool { return s == nil })
	var model nn.Module
	if c.NewModel != nil {
		model = c.NewModel()
		if len(sets) > 0 {
			_ = loop.Touch(ctx, model, sets[0]) // a model that cannot take the examples fails when it is trained, with a better error
		}
	}
	if err := ctx.Err(); err != nil {
		return d, err
	}
	d.Subject, err = loop.Describe(model, sets...)
	return d, err
}

// First reports whether this process shows the results: without a group, or on rank 0.
func First(group *parallel.Group) bool { return group == nil || group.First() }
