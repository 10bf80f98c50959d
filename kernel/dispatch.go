package kernel

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

// queryTimeout is how long the worker may take to answer a query. After that time a
// user who waited for completions has gone on typing.
const queryTimeout = 10 * time.Second

// dispatch handles one request. It sends busy, the reply and idle, each exactly once and
// in this order.
func (k *Kernel) dispatch(ctx context.Context, r *request) {
	started := time.Now()
	k.busy(r)
	defer func() {
		k.idle(r)
		if r.afterIdle != nil {
			r.afterIdle()
		}
	}()
	row, ok := table[r.Header.Type]
	if !ok {
		k.log.Info("message of an unknown type", "type", r.Header.Type, "channel", r.channel)
		return
	}
	if row.lane == queries {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, queryTimeout)
		defer cancel()
	}
	content := k.answer(ctx, row, r)
	if row.reply == "" {
		return
	}
	k.publisher.flush()
	if r.abortsQueued {
		k.abort = &abortPoint{r, time.Now()} // before sending the reply, since the client may react at once
	}
	if r.Header.Type == wire.ExecuteRequest {
		k.arrivals.answered()
	}
	k.send(r.channel, wire.Outgoing{
		Identities: r.Identities,
		Type:       row.reply,
		Parent:     r.RawHeader,
		Metadata:   map[string]any{"started": started.UTC().Format(time.RFC3339Nano)},
		Content:    content,
	})
}

// busy publishes the start of a request.
func (k *Kernel) busy(r *request) {
	k.states.Lock()
	defer k.states.Unlock()
	if r.Header.Type == wire.ExecuteRequest && r.refused == nil {
		k.busyCell = r
	}
	k.publisher.publish(wire.Status, r.RawHeader, wire.State{ExecutionState: wire.Busy})
}

// idle publishes the end of a request. If a cell is still busy, it then publishes busy for
// that cell again, because a front end shows the last state that it received. The lock keeps
// the cell from ending in between.
func (k *Kernel) idle(r *request) {
	k.states.Lock()
	defer k.states.Unlock()
	if k.busyCell == r {
		k.busyCell = nil
	}
	k.publisher.publish(wire.Status, r.RawHeader, wire.State{ExecutionState: wire.Idle})
	if k.busyCell != nil {
		k.publisher.publish(wire.Status, k.busyCell.RawHeader, wire.State{ExecutionState: wire.Busy})
	}
	if r.last {
		k.finish.Do(func() { close(k.finished) })
	}
}

// answer runs the handler of a row and returns the content of the reply, even if the
// handler fails or panics.
func (k *Kernel) answer(ctx context.Context, row handler, r *request) (content any) {
	fail := func(failure wire.Failure) {
		if row.failed != nil {
			content = row.failed(k, failure)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			k.log.Error("panic in a handler", "type", r.Header.Type, "panic", p, "stack", string(debug.Stack()))
			fail(wire.NewFailure("internal error", fmt.Sprintf("the kernel failed at %s: %v", r.Header.Type, p), nil))
		}
	}()
	content, err := any(nil), r.refused
	if err == nil {
		content, err = row.handle(k, ctx, r)
	}
	if err != nil {
		k.log.Info("request failed", "type", r.Header.Type, "error", err)
		fail(wire.NewFailure(failureName(err), err.Error(), nil))
	}
	return content
}

func failureName(err error) string {
	var content *wire.ContentError
	var subshell *SubshellError
	if errors.As(err, &content) || errors.As(err, &subshell) {
		return "bad request"
	}
	return "kernel error"
}
