package kernel

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/usage"
	"github.com/quernlab/quern/kernel/wire"
)

// Sockets carry the messages of the kernel. On IOPub, Receive returns the topic of each
// new subscription.
type Sockets interface {
	Receive(ctx context.Context, channel transport.Channel) ([][]byte, error)
	Send(channel transport.Channel, frames [][]byte) error
}

// Kernel answers the requests of clients. It also receives the output of cells from
// package ranks.
type Kernel struct {
	codec     *wire.Codec
	sockets   Sockets
	worker    link.Worker // when its Execute returns, all output of the cell has been received
	log       *slog.Logger
	info      wire.KernelInfo
	publisher *publisher
	history   *history.History
	parents   parents
	late      lateOutput
	comms     openComms
	input     input
	meter     *usage.Meter

	lanes     [lanes]*queue
	subshells subshells

	// The running cell; nil between cells.
	running atomic.Pointer[execution]

	// Used only by the lane of cells.
	abort    *abortPoint // set by the last cell that failed or was aborted
	arrivals arrivals

	count     atomic.Int64 // execution count
	uncounted atomic.Int64 // number of cells without an execution count
	finished  chan struct{}
	finish    sync.Once
}

// execution is a running cell, including its user expressions.
type execution struct {
	*request
	allowInput  bool
	interrupted atomic.Bool
	stop        context.CancelFunc // cancels the user expressions
}

// request is a message from a client.
type request struct {
	*wire.Message
	channel      transport.Channel
	received     time.Time
	refused      error // why it is not handled; nil if it should be handled
	last         bool  // the kernel shuts down when it has been answered
	abortsQueued bool  // it failed or was aborted: abort the cells that arrived before its reply

	afterIdle func() // work to do after idle, which nobody waits for; may be nil
}

func newKernel(codec *wire.Codec, sockets Sockets, info wire.KernelInfo, history *history.History, log *slog.Logger) *Kernel {
	k := &Kernel{
		codec:    codec,
		sockets:  sockets,
		log:      log,
		info:     wire.NewKernelInfo(info),
		history:  history,
		finished: make(chan struct{}),
	}
	k.publisher = newPublisher(k.publish)
	k.input.lines = make(chan string, 1)
	k.meter = usage.New(gpu.Devices)
	for i := range k.lanes {
		k.lanes[i] = newQueue()
	}
	return k
}

// serve handles requests until ctx ends. Requests that have begun by then are completed.
func (k *Kernel) serve(ctx context.Context) {
	var loops sync.WaitGroup
	defer loops.Wait()
	k.publisher.publish(wire.Status, nil, wire.State{ExecutionState: wire.Starting})
	loops.Go(func() { k.receive(ctx, transport.Shell, k.enqueue) })
	loops.Go(func() { k.receive(ctx, transport.Control, k.enqueue) })
	loops.Go(func() { k.receive(ctx, transport.Stdin, k.answerInput) })
	loops.Go(func() { k.welcome(ctx) })
	for _, queue := range k.lanes {
		loops.Go(func() { k.work(ctx, queue) })
	}
	k.subshells.serve(ctx, &loops, func(shell context.Context, q *queue) {
		k.work(shell, q)
		for _, r := range q.close() { // the subshell was deleted: answer the requests that were waiting in it
			k.refuse(ctx, r)
		}
	})
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
		message, err := k.codec.Decode(frames)
		if err != nil {
			// The sender is not authenticated, so it gets no answer.
			k.log.Info("message dropped", "channel", channel, "error", err)
			continue
		}
		handle(ctx, &request{Message: message, channel: channel, received: time.Now()})
	}
}

// enqueue puts a request into its lane.
func (k *Kernel) enqueue(ctx context.Context, r *request) {
	k.late.observe(r)
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

// publish sends a message on iopub.
func (k *Kernel) publish(m wire.Outgoing) {
	if m.Identities == nil {
		m.Identities = [][]byte{[]byte(m.Type)}
	}
	k.send(transport.IOPub, m)
}

// send encodes and sends a message. If the content cannot be encoded, that is a bug or
// content from a cell that the worker should have rejected. If the message cannot be
// sent, its client has disconnected, which is normal.
func (k *Kernel) send(channel transport.Channel, m wire.Outgoing) {
	frames, err := k.codec.Encode(m)
	if err != nil {
		k.log.Error("message cannot be encoded", "type", m.Type, "channel", channel, "error", err)
		return
	}
	if err := k.sockets.Send(channel, frames); err != nil {
		k.log.Info("message not sent", "type", m.Type, "channel", channel, "error", err)
	}
}
