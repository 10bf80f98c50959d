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

// Sockets carry the messages of the kernel. On IOPub, Receive gives the topic
// of each new subscription.
type Sockets interface {
	Receive(ctx context.Context, channel transport.Channel) ([][]byte, error)
	Send(channel transport.Channel, frames [][]byte) error
}

// Kernel answers the requests of the clients. The worker's supervision hands it
// what the cells put out.
type Kernel struct {
	codec     *wire.Codec
	sockets   Sockets
	worker    link.Worker // all output of a cell has come when its Execute returns
	log       *slog.Logger
	info      wire.KernelInfo
	publisher *publisher
	history   *history.History
	parents   parents
	late      late
	comms     openComms
	input     input
	meter     *usage.Meter

	lanes     [lanes]*queue
	subshells subshells

	// The cell that runs; nil between cells.
	running atomic.Pointer[execution]

	// The last cell that stops others; of the lane of the cells alone.
	stop     *stop
	arrivals arrivals

	count     atomic.Int64 // execution count
	uncounted atomic.Int64 // cells without one so far
	finished  chan struct{}
	finish    sync.Once
}

// execution is a cell that runs, with its user expressions.
type execution struct {
	*request
	allowInput  bool
	interrupted atomic.Bool
	stop        context.CancelFunc // ends the user expressions
}

// request is a message from a client.
type request struct {
	*wire.Message
	channel  transport.Channel
	received time.Time
	refused  error // why it is not handled; nil if it is
	last     bool  // the kernel ends when it has been answered
	stops    bool  // a cell that failed or did not run: those sent before its reply do not run

	afterwards func() // what nobody waits for; nil if there is nothing
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

// serve answers requests until ctx ends, and what has begun by then.
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
		for _, r := range q.close() { // it was deleted, and who waits in it waits for an answer
			k.refuse(ctx, r)
		}
	})
	<-ctx.Done()
	k.subshells.close()
	k.publisher.close()
}

// work answers what waits in a queue until ctx ends.
func (k *Kernel) work(ctx context.Context, q *queue) {
	for ctx.Err() == nil {
		r, err := q.pop(ctx)
		if err != nil {
			return
		}
		// What has begun is answered, also when the kernel ends.
		k.dispatch(context.WithoutCancel(ctx), r)
	}
}

// receive verifies and decodes what comes on a channel. It never waits for a
// handler: behind it wait all clients.
func (k *Kernel) receive(ctx context.Context, channel transport.Channel, handle func(context.Context, *request)) {
	for {
		frames, err := k.sockets.Receive(ctx, channel)
		if err != nil {
			return
		}
		message, err := k.codec.Decode(frames)
		if err != nil {
			// Whoever sent it cannot be trusted with an answer.
			k.log.Info("message dropped", "channel", channel, "error", err)
			continue
		}
		handle(ctx, &request{Message: message, channel: channel, received: time.Now()})
	}
}

// enqueue puts a request into its lane.
func (k *Kernel) enqueue(ctx context.Context, r *request) {
	k.late.heard(r)
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

// refuse answers a request to a subshell that there is not.
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

// send encodes and sends a message. Content that has no JSON form is a bug, or
// came from a cell in a way that the worker let pass. That it cannot be sent is
// everyday life: its client has gone.
func (k *Kernel) send(channel transport.Channel, m wire.Outgoing) {
	frames, err := k.codec.Encode(m)
	if err != nil {
		k.log.Error("message has no form", "type", m.Type, "channel", channel, "error", err)
		return
	}
	if err := k.sockets.Send(channel, frames); err != nil {
		k.log.Info("message not sent", "type", m.Type, "channel", channel, "error", err)
	}
}
