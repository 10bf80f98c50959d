package kernel

import (
	"context"
	"time"

	"github.com/quernlab/quern/kernel/wire"
)

// interrupt answers interrupt_request with interrupt_reply. The cell may end shortly
// after the reply.
func (k *Kernel) interrupt(ctx context.Context, r *request, _ empty) (wire.EmptyReply, error) {
	return wire.NewEmptyReply(), k.interruptBy(ctx, r)
}

// Interrupt stops the running cell, even while it waits for input, and the running comm
// handlers. If no cell is running, it stops the one that has arrived and is about to run.
func (k *Kernel) Interrupt(ctx context.Context) error {
	return k.interruptBy(ctx, &request{Message: &wire.Message{}, received: time.Now()})
}

// interruptBy is Interrupt for a request.
func (k *Kernel) interruptBy(ctx context.Context, r *request) error {
	// First, so that a cell that begins now finds it: the worker may not have the cell yet.
	k.interruption.Store(r)
	cell := k.running.Load()
	if cell != nil {
		k.interruption.CompareAndSwap(r, nil) // it is for this cell
	}
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

// isInterrupted reports whether an interrupt that came when no cell was running is meant for the cell of r, which is about to run:
// whether the cell had arrived before, or whether its client sent it before. A large cell takes longer to arrive.
func (k *Kernel) isInterrupted(r *request) bool {
	by := k.interruption.Swap(nil)
	if by == nil {
		return false
	}
	if r.received.Before(by.received) {
		return true
	}
	if r.Header.Session != by.Header.Session || r.received.Sub(by.received) > maxTransit {
		return false
	}
	cell, _, ok := parseDate(r.Header.Date)
	interrupt, _, known := parseDate(by.Header.Date)
	return ok && known && cell.Before(interrupt)
}
