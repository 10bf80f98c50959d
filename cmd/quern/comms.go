package main

import (
	"context"
	"sync/atomic"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/widgets/comm"
)

// commHost sends comm messages to the notebook, each on behalf of the cell that sends it.
type commHost struct {
	notebook  link.Notebook
	rank      int // only the objects of rank 0 are shown
	callbacks *interp.Callbacks
	caller    func() int
	clickable *atomic.Bool // whether a person can use the widgets of the running cell
}

func (h commHost) Send(m comm.Message) error {
	if h.rank > 0 {
		return nil
	}
	return h.notebook.Comm(link.Comm{
		Kind: string(m.Kind), ID: m.ID, Target: m.Target, Data: m.Data, Metadata: m.Metadata, Buffers: m.Buffers, Cell: h.caller(),
	})
}

func (h commHost) Guard(f func()) func() { return h.callbacks.Guard(f) }

func (h commHost) Interactive() bool { return h.clickable.Load() }

// comm passes a message of the notebook to the object that it is for, and returns when
// the object has handled it.
func (w *worker) comm(_ context.Context, c link.Comm) (link.CommReply, error) {
	known := comm.Deliver(comm.Message{
		Kind: comm.Kind(c.Kind), ID: c.ID, Target: c.Target, Data: c.Data, Metadata: c.Metadata, Buffers: c.Buffers,
	})
	return link.CommReply{Unknown: !known}, nil
}

// InterruptHandlers interrupts the running comm handlers.
func (w *worker) InterruptHandlers() { w.callbacks.Interrupt() }
