package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// Input asks the client of the running cell for a line. It sends input_request on the
// stdin channel and waits for input_reply or an interrupt.
func (k *Kernel) Input(ctx context.Context, prompt link.InputRequest) (link.InputReply, error) {
	k.input.asking.Lock()
	defer k.input.asking.Unlock()
	cell := k.running.Load()
	if cell == nil || !cell.allowInput {
		return link.InputReply{EOF: true}, nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id := k.codec.NewID()
	k.input.open(cell, id, stop)
	defer k.input.open(nil, "", nil)
	if cell.interrupted.Load() { // interrupted just before it asked
		return link.InputReply{}, errInterrupted
	}
	// The prompt must appear below the output so far.
	k.publisher.flush()
	k.send(transport.Stdin, wire.Outgoing{
		ID:         id,
		Identities: cell.Identities,
		Type:       wire.InputRequest,
		Parent:     cell.RawHeader,
		Content:    wire.Prompt{Prompt: prompt.Prompt, Password: prompt.Password},
	})
	select {
	case line := <-k.input.lines:
		return link.InputReply{Line: line}, nil
	case <-ctx.Done():
		return link.InputReply{}, context.Cause(ctx)
	}
}

// answerInput handles input_reply.
func (k *Kernel) answerInput(_ context.Context, r *request) {
	var in wire.Line
	if r.Header.Type != wire.InputReply {
		k.log.Info("message of an unknown type", "type", r.Header.Type, "channel", r.channel)
		return
	}
	if err := r.Content(&in); err != nil {
		k.log.Info("message dropped", "channel", r.channel, "error", err)
		return
	}
	if !k.input.answer(r.ParentID, in.Value) {
		k.log.Info("input reply dropped: no request is open")
	}
}
