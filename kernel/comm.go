package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// A comm ties an object of the front end to one of the kernel. No target is
// registered yet, so no comm is ever open.

// commInfo answers comm_info_request with comm_info_reply.
func (k *Kernel) commInfo(context.Context, *request, wire.CommInfo) (wire.Comms, error) {
	return wire.NewComms(nil), nil
}

// commOpen closes a comm to a target that nobody has registered, as the
// protocol asks.
func (k *Kernel) commOpen(_ context.Context, r *request, in wire.CommOpened) (empty, error) {
	k.log.Warn("comm to an unknown target", "target", in.Target)
	k.publisher.publish(wire.CommClose, r.RawHeader, wire.NewCommData(in.ID, nil))
	return empty{}, nil
}

// commMsg drops a message to a comm that is not open.
func (k *Kernel) commMsg(_ context.Context, _ *request, in wire.CommData) (empty, error) {
	k.log.Debug("message to an unknown comm", "comm", in.ID)
	return empty{}, nil
}

// commClose has nothing to close.
func (k *Kernel) commClose(_ context.Context, _ *request, in wire.CommData) (empty, error) {
	k.log.Debug("close of an unknown comm", "comm", in.ID)
	return empty{}, nil
}
