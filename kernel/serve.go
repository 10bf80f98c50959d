package kernel

import (
	"context"
	"sync"
	"time"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// serve handles requests until ctx ends. Requests that have begun by then are completed.
func (k *Kernel) serve(ctx context.Context) {
	var loops sync.WaitGroup
	defer loops.Wait()
	// Before the first request arrives.
	k.subshells.serve(ctx, &loops, func(shell context.Context, q *queue) {
		k.work(shell, q)
		for _, r := range q.close() { // the subshell was deleted: answer the requests that were waiting in it
			k.refuse(ctx, r)
		}
	})
	k.publisher.publish(wire.Status, nil, wire.State{ExecutionState: wire.Starting})
	loops.Go(func() { k.receive(ctx, transport.Shell, k.enqueue) })
	loops.Go(func() { k.receive(ctx, transport.Control, k.enqueue) })
	loops.Go(func() { k.receive(ctx, transport.Stdin, k.answerInput) })
	loops.Go(func() { k.welcome(ctx) })
	for _, queue := range k.lanes {
		loops.Go(func() { k.work(ctx, queue) })
	}
	<-ctx.Done()
	k.subshells.close()
	k.publisher.close()
}

// work handles the requests of a queue until ctx ends.
func (k *Kernel) work(ctx context.Context, q *queue) {
	for ctx.Err() == nil {
		r, err := q.pop(ctx)
		if err != nil {
			return
		}
		// A request that has begun is completed even if the kernel shuts down.
		k.dispatch(context.WithoutCancel(ctx), r)
	}
}

// receive verifies and decodes the messages of a channel. It never waits for a handler,
// which would block all clients.
func (k *Kernel) receive(ctx context.Context, channel transport.Channel, handle func(context.Context, *request)) {
	for {
		frames, err := k.sockets.Receive(ctx, channel)
		if err != nil {
			return
		}
		received := time.Now() // a large cell takes long to decode
		message, err := k.codec.Decode(frames)
		if err != nil {
			// The sender is not authenticated, so it gets no answer.
			k.log.Info("message dropped", "channel", channel, "error", err)
			continue
		}
		handle(ctx, &request{Message: message, channel: channel, received: received})
	}
}

// enqueue puts a request into its lane.
func (k *Kernel) enqueue(ctx context.Context, r *request) {
	k.late.observe(r)
	r.clock = k.clocks.observe(r.Header.Session, r.Header.Date, r.received)
	if r.Header.Type == wire.ExecuteRequest {
		k.arrivals.record(r.received)
	}
	l := control
	if row, ok := table[r.Header.Type]; ok {
		l = row.lane
	}
	queue := k.lanes[l]
	if id := r.Header.Subshell; id != "" && r.channel == transport.Shell {
		shell := k.subshells.find(id)
		if shell == nil {
			k.refuse(ctx, r)
			return
		}
		if r.Header.Type != wire.ExecuteRequest {
			queue = shell
		}
	}
	if !queue.push(ctx, r) {
		k.refuse(ctx, r)
	}
}

// refuse answers a request to a subshell that does not exist with an error.
func (k *Kernel) refuse(ctx context.Context, r *request) {
	r.refused = &SubshellError{r.Header.Subshell}
	k.lanes[control].push(ctx, r)
}
