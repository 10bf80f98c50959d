package kernel

import (
	"context"
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

// Time limits for shutting down. A client that shuts down a kernel kills it after five
// seconds.
const (
	workerShutdownTime = 1500 * time.Millisecond
	repliesTime        = time.Second
	drainTime          = time.Second
)

// shutdown answers shutdown_request with shutdown_reply, which is also published on iopub
// for the other clients. The kernel shuts down after the reply has been sent.
func (k *Kernel) shutdown(_ context.Context, r *request, in wire.Shutdown) (wire.ShutdownOK, error) {
	reply := wire.NewShutdownOK(in.Restart)
	k.publisher.publish(wire.ShutdownReply, r.RawHeader, reply)
	r.last = true
	return reply, nil
}
