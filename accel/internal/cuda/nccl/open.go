//go:build linux && cgo

package nccl

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/library"
)

// statusInProgress is ncclInProgress: a call continues in the background.
const statusInProgress = 7

// Open initializes a library that package library has loaded.
func Open(found *library.Handle) (Library, error) {
	table, err := found.Table(symbols(), nil)
	if err != nil {
		return nil, err
	}
	return &opened{table: (*C.table)(table), version: found.Version}, nil
}

// symbols returns the functions of NCCL that the package calls, in the order of the table.
func symbols() []string { return library.Names(unsafe.Pointer(&C.quern_nccl_symbols)) }

// opened is the real library. Its table lives as long as the process, as the library does.
type opened struct {
	table   *C.table
	version library.Version
}

func (l *opened) Version() string { return l.version.String() }

// failed returns the error of a call with the library's message.
func (l *opened) failed(c C.handle, status C.int, call string) error {
	return &library.CallError{
		Library: library.NCCL, Call: call, Code: int(status),
		Status: C.GoString(C.quern_nccl_status(l.table, status)), Words: C.GoString(C.quern_nccl_words(l.table, c)),
	}
}

// NewID creates the identifier of a group.
func (l *opened) NewID() (id ID, err error) {
	var u C.unique
	if status := C.quern_nccl_unique(l.table, &u); status != 0 {
		return id, l.failed(0, status, "ncclGetUniqueId")
	}
	copy(id[:], unsafe.Slice((*byte)(unsafe.Pointer(&u)), len(id)))
	return id, nil
}

// Join returns when all ranks have joined.
func (l *opened) Join(ctx context.Context, id ID, rank, size int) (Communicator, error) {
	c := &communicator{library: l, last: "ncclCommInitRankConfig"}
	if status := C.quern_nccl_join(l.table, &c.handle, C.int(size), (*C.unique)(unsafe.Pointer(&id)), C.int(rank)); status != 0 && status != statusInProgress {
		err := l.failed(c.handle, status, "ncclCommInitRankConfig")
		return nil, errors.Join(err, c.Abort())
	}
	if err := c.await(ctx, "ncclCommInitRankConfig"); err != nil {
		return nil, errors.Join(err, c.Abort())
	}
	return c, nil
}

// communicator is a communicator of the real library.
type communicator struct {
	library *opened

	mu     sync.Mutex
	handle C.handle // 0 after Close or Abort; guarded by mu
	last   string   // name of the last queued call, for errors; guarded by mu
}

// errGone is the error of a communicator after Close or Abort.
var errGone = errors.New("NCCL: the communicator was aborted or closed")

// state returns the state of the communicator's last call.
func (c *communicator) state(call string) (inProgress bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle == 0 {
		return false, errGone
	}
	var state C.int
	if status := C.quern_nccl_state(c.library.table, c.handle, &state); status != 0 {
		return false, c.library.failed(c.handle, status, "ncclCommGetAsyncError")
	}
	if state != 0 && state != statusInProgress {
		return false, c.library.failed(c.handle, state, call)
	}
	return state == statusInProgress, nil
}

// pause is the interval at which a call in progress is polled.
const pause = 50 * time.Microsecond

// await waits for a call in progress.
func (c *communicator) await(ctx context.Context, call string) error {
	for {
		inProgress, err := c.state(call)
		if err != nil || !inProgress {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("NCCL: %s: %w", call, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// Queue queues calls in a stream.
func (c *communicator) Queue(ctx context.Context, s driver.Stream, calls ...Call) error {
	if len(calls) == 0 {
		return nil
	}
	call, status, err := c.queue(s, calls)
	if err == nil && status == statusInProgress {
		return c.await(ctx, call)
	}
	return err
}

// queue makes the calls, and returns the name of the one that is still in progress.
func (c *communicator) queue(s driver.Stream, calls []Call) (name string, status C.int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle == 0 {
		return "", 0, errGone
	}
	check := func(call string, returned C.int) {
		if name == "" || returned != 0 {
			name, status = call, returned
		}
		if returned != 0 && returned != statusInProgress && err == nil {
			err = c.library.failed(c.handle, returned, call)
		}
	}
	t := c.library.table
	if len(calls) > 1 {
		check("ncclGroupStart", C.quern_nccl_group_start(t))
	}
	for _, l := range calls {
		if err != nil {
			break // without it, the rest would wait for a call that was not made
		}
		c.last = l.Op.String()
		check(c.last, C.quern_nccl_queue(t, C.int(l.Op), C.uint64_t(l.From), C.uint64_t(l.To), C.size_t(l.Count), C.int(l.Type), C.int(l.Peer), c.handle, C.handle(s)))
	}
	if len(calls) > 1 { // also after an error, as a group must end
		status = 0
		check("ncclGroupEnd", C.quern_nccl_group_end(t))
	}
	return name, status, err
}

// Err returns an asynchronous error, with the name of the last call.
func (c *communicator) Err() error {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	_, err := c.state(last)
	return err
}

// Abort ends the communicator's work on the GPU.
func (c *communicator) Abort() error {
	return c.release(func() error {
		if status := C.quern_nccl_abort(c.library.table, c.handle); status != 0 && status != statusInProgress {
			return c.library.failed(c.handle, status, "ncclCommAbort")
		}
		return nil
	})
}

// Close releases the communicator. Its work is done, so this does not take long.
func (c *communicator) Close() error {
	c.mu.Lock()
	h := c.handle
	if h == 0 {
		c.mu.Unlock()
		return nil
	}
	status := C.quern_nccl_finalize(c.library.table, h)
	c.mu.Unlock()
	if status != 0 && status != statusInProgress {
		return errors.Join(c.library.failed(h, status, "ncclCommFinalize"), c.Abort())
	}
	ctx, cancel := context.WithTimeout(context.Background(), finalizeTime)
	defer cancel()
	if err := c.await(ctx, "ncclCommFinalize"); err != nil {
		return errors.Join(err, c.Abort())
	}
	return c.release(func() error {
		if status := C.quern_nccl_destroy(c.library.table, c.handle); status != 0 && status != statusInProgress {
			return c.library.failed(c.handle, status, "ncclCommDestroy")
		}
		return nil
	})
}

// finalizeTime is how long the other ranks may take to close theirs.
const finalizeTime = 10 * time.Second

// release releases the handle, once.
func (c *communicator) release(how func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle == 0 {
		return nil
	}
	err := how()
	c.handle = 0
	return err
}
