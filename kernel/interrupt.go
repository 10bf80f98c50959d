package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// interrupt answers interrupt_request with interrupt_reply. The cell may take a
// moment longer to end than the reply.
func (k *Kernel) interrupt(ctx context.Context, _ *request, _ empty) (wire.EmptyReply, error) {
	return wire.NewEmptyReply(), k.Interrupt(ctx)
}

// Interrupt stops the running cell, also while it waits for input. Between
// cells it does nothing.
func (k *Kernel) Interrupt(ctx context.Context) error {
	cell := k.running.Load()
	if cell == nil {
		return nil
	}
	cell.interrupted.Store(true)
	cell.stop()
	err := k.worker.Interrupt(ctx)
	k.input.interrupt()
	return err
}
