package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// interrupt answers interrupt_request with interrupt_reply. The cell may end shortly
// after the reply.
func (k *Kernel) interrupt(ctx context.Context, _ *request, _ empty) (wire.EmptyReply, error) {
	return wire.NewEmptyReply(), k.Interrupt(ctx)
}

// Interrupt stops the running cell, even while it waits for input, and the running comm
// handlers.
func (k *Kernel) Interrupt(ctx context.Context) error {
	cell := k.running.Load()
	if cell != nil {
		cell.interrupted.Store(true)
	}
	err := k.worker.Interrupt(ctx)
	// What follows may end the cell, or comes after its end: the next cell is not concerned.
	if cell != nil {
		cell.stop()
		k.input.interrupt(cell)
	}
	return err
}
