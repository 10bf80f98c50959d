package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// shutdown answers shutdown_request with shutdown_reply, which is also published on iopub
// for the other clients. The kernel shuts down after the reply has been sent.
func (k *Kernel) shutdown(_ context.Context, r *request, in wire.Shutdown) (wire.ShutdownOK, error) {
	reply := wire.NewShutdownOK(in.Restart)
	k.publisher.publish(wire.ShutdownReply, r.RawHeader, reply)
	r.last = true
	return reply, nil
}
