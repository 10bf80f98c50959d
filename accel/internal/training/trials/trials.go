// Package trials runs independent jobs, such as the trainings of a comparison, side by side on the ranks of a group.
package trials

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
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
	back, err := useOwnGPU(group)
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

// useOwnGPU switches to the GPU of this rank, if several ranks are on one machine; see accel.DataParallel.
func useOwnGPU(group *parallel.Group) (back func() error, err error) {
	before := tensors.Device()
	own := before
	if gpus, err := tensors.GPUs(); err == nil && group.LocalSize() > 1 {
		own = loop.GPUOf(group.LocalRank(), len(gpus), before, before)
	}
	if own == before {
		return func() error { return nil }, nil
	}
	if err := tensors.SetDevice(own); err != nil {
		return nil, err
	}
	return func() error { return tensors.SetDevice(before) }, nil
}

// report is what a rank sends about its job.
type report[T any] struct {
	Ran         bool // the rank had a job
	Result      T
	Failed      string // the error of the job
	Interrupted bool
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
		if own != nil {
			mine.Failed, mine.Interrupted = own.Error(), interrupt.Is(own)
		}
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
			switch {
			case r.Failed == "":
			case rank == group.Rank():
				return results, own
			case r.Interrupted:
				return results, fmt.Errorf("rank %d was interrupted: %w", rank, context.Canceled)
			default:
				return results, fmt.Errorf("rank %d: %s", rank, r.Failed)
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

// Same returns an error on all ranks unless a text, which describes the jobs, is the same on all.
func Same(ctx context.Context, group *parallel.Group, text string) error {
	if group == nil {
		return nil
	}
	all, err := group.AllGather(ctx, []byte(text))
	if err != nil {
		return err
	}
	for rank, other := range all {
		if string(other) != string(all[0]) {
			return fmt.Errorf("rank %d runs other trials than rank 0: %s instead of %s: make the same call on all ranks", rank, other, all[0])
		}
	}
	return nil
}

// First reports whether this process shows the results: without a group, or on rank 0.
func First(group *parallel.Group) bool { return group == nil || group.First() }
