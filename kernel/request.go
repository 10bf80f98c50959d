package kernel

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// request is a message from a client.
type request struct {
	*wire.Message
	channel      transport.Channel
	received     time.Time
	clock        *clientClock // of its client
	refused      error        // why it is not handled; nil if it should be handled
	last         bool         // the kernel shuts down when it has been answered
	abortsQueued bool         // it failed or was aborted: abort the cells that arrived before its reply

	afterIdle func() // work to do after idle, which nobody waits for; may be nil
}

// execution is a running cell, including its user expressions.
type execution struct {
	*request
	allowInput  bool
	interrupted atomic.Bool
	stop        context.CancelFunc // cancels the user expressions
}

// size returns approximately how much memory a request takes, in bytes.
func (r *request) size() int {
	n := len(r.RawHeader) + len(r.Metadata) + len(r.Body)
	for _, b := range r.Buffers {
		n += len(b)
	}
	return n
}

// empty is the content of messages without fields.
type empty struct{}
