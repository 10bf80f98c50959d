package kernel

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

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

	lost atomic.Pointer[link.CellError] // why a worker has ended between cells, until a cell has failed with it

	states   sync.Mutex // held while busy or idle is published
	busyCell *request   // the cell whose busy was published and whose idle was not; nil between cells

	// Used only by the lane of cells.
	abort    *abortPoint // set by the last cell that failed or was aborted
	arrivals arrivals
	clocks   clocks
	// interruption is the last interrupt that came when no cell was running; nil once a cell has begun after it.
	interruption atomic.Pointer[request]

	count     atomic.Int64 // execution count
	uncounted atomic.Int64 // number of cells without an execution count
	finished  chan struct{}
	finish    sync.Once
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
