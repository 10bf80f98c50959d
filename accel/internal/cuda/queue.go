package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// queue is the stream of a device in which all work runs, with the memory and the code of
// that work.
type queue struct {
	name   string // of the device
	ctx    *profiledContext
	stream driver.Stream

	memory   *pool
	staging  *staging
	timeline *timeline
	code     *code
	profile  *profile

	// The arena holds temporaries. Programs share it, since one runs at a time; Compile
	// makes it large enough.
	arena      driver.Pointer
	arenaBytes int
}

func newQueue(name string, ctx *profiledContext, c *code) (q *queue, err error) {
	q = &queue{name: name, ctx: ctx, code: c}
	if q.stream, err = ctx.NewStream(); err != nil {
		return nil, err
	}
	q.memory = newPool(name, ctx, q.stream)
	q.profile = &profile{ctx: ctx, stream: q.stream}
	if q.timeline, err = newTimeline(ctx); err != nil {
		return nil, err
	}
	q.staging, err = newStaging(ctx, q.stream)
	return q, err
}

// mark records that the work so far writes some memory.
func (q *queue) mark(written ...*storage) error {
	n, err := q.timeline.record(q.stream)
	if err != nil {
		return q.failed("record", err)
	}
	for _, s := range written {
		s.written = n
	}
	return nil
}

// reserve makes the arena at least as large as bytes. The old arena is freed in stream
// order, after the work that uses it.
func (q *queue) reserve(bytes int) error {
	if bytes <= q.arenaBytes {
		return nil
	}
	if q.arena != 0 {
		if err := q.ctx.Free(q.arena, q.stream); err != nil {
			return q.failed("free temporaries", err)
		}
		q.arena, q.arenaBytes = 0, 0
	}
	s, err := q.memory.raw(bytes)
	if err != nil {
		return err
	}
	q.arena, q.arenaBytes = s, bytes
	return nil
}

// current calls a library with the device's context current in the calling thread.
func (q *queue) current(call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := q.ctx.Current(); err != nil {
		return err
	}
	return call()
}

// failed adds the device's name to an error of the driver. Out of memory is an
// *ir.OutOfMemoryError.
func (q *queue) failed(what string, err error) error {
	if errors.Is(err, driver.OutOfMemory) {
		return q.memory.exhausted(0)
	}
	return fmt.Errorf("%s: %s: %w", q.name, what, err)
}
