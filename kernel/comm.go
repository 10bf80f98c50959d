package kernel

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// A comm connects an object in the front end with one in the worker. Either side may
// open, use and close it. The kernel process forwards the messages and knows which comms
// are open.

// commInfo answers comm_info_request with comm_info_reply.
func (k *Kernel) commInfo(_ context.Context, _ *request, in wire.CommInfo) (wire.Comms, error) {
	return wire.NewComms(k.comms.list(in.Target)), nil
}

// commOpen handles comm_open. If no handler is registered for the target, the comm is
// closed again, as the protocol requires.
func (k *Kernel) commOpen(ctx context.Context, r *request, in wire.CommOpened) (empty, error) {
	refuse := func() {
		k.comms.close(in.ID)
		k.publisher.publish(wire.CommClose, r.RawHeader, wire.NewCommData(in.ID, nil))
	}
	if k.comms.has(in.ID) {
		return empty{}, fmt.Errorf("comm %q is already open", in.ID)
	}
	if !k.comms.open(in.ID, in.Target) { // before the request, since the worker's first message may arrive before its reply
		refuse()
		return empty{}, fmt.Errorf("too many comms are open (limit %d)", maxComms)
	}
	reply, err := link.Ask(ctx, k.worker, commMessage(r, link.CommOpen, in.ID, in.Target, in.Data))
	if err != nil || reply.Unknown {
		refuse()
	}
	return empty{}, err
}

// commMsg handles comm_msg. Messages to comms that are not open are dropped.
func (k *Kernel) commMsg(ctx context.Context, r *request, in wire.CommData) (empty, error) {
	if !k.comms.has(in.ID) {
		k.log.Debug("message to an unknown comm", "comm", in.ID)
		return empty{}, nil
	}
	_, err := link.Ask(ctx, k.worker, commMessage(r, link.CommMessage, in.ID, "", in.Data))
	return empty{}, err
}

// commClose handles comm_close.
func (k *Kernel) commClose(ctx context.Context, r *request, in wire.CommData) (empty, error) {
	if !k.comms.close(in.ID) {
		k.log.Debug("close of an unknown comm", "comm", in.ID)
		return empty{}, nil
	}
	_, err := link.Ask(ctx, k.worker, commMessage(r, link.CommClose, in.ID, "", in.Data))
	return empty{}, err
}

func commMessage(r *request, kind, id, target string, data json.RawMessage) link.Comm {
	return link.Comm{Kind: kind, ID: id, Target: target, Data: data, Metadata: r.Metadata, Buffers: r.Buffers}
}

// Comm forwards a message of the worker to an object in the front end.
func (k *Kernel) Comm(c link.Comm) error {
	m := wire.Outgoing{Parent: k.parents.get(c.Cell), Buffers: c.Buffers}
	if len(c.Metadata) > 0 {
		if err := json.Unmarshal(c.Metadata, &m.Metadata); err != nil {
			return fmt.Errorf("metadata of comm %q: %w", c.ID, err)
		}
	}
	switch c.Kind {
	case link.CommOpen:
		if !k.comms.open(c.ID, c.Target) {
			return fmt.Errorf("too many comms are open (limit %d)", maxComms)
		}
		m.Type, m.Content = wire.CommOpen, wire.NewCommOpened(c.ID, c.Target, c.Data)
	case link.CommMessage:
		m.Type, m.Content = wire.CommMsg, wire.NewCommData(c.ID, c.Data)
	case link.CommClose:
		k.comms.close(c.ID)
		m.Type, m.Content = wire.CommClose, wire.NewCommData(c.ID, c.Data)
	default:
		return fmt.Errorf("comm message of unknown kind %q", c.Kind)
	}
	if m, now := k.late.comm(c.Cell, m); now {
		k.publisher.publishMessage(m)
	}
	return nil
}

// WorkerEnded closes all comms, because the objects in the worker are gone. why is the error of the next cell if no
// cell was running, and nil otherwise.
func (k *Kernel) WorkerEnded(why *link.CellError) {
	if why != nil {
		k.lost.Store(why)
	}
	for _, id := range k.comms.clear() {
		k.publisher.publish(wire.CommClose, nil, wire.NewCommData(id, nil))
	}
}
