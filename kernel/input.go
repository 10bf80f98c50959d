package kernel

import (
	"context"
	"errors"
	"sync"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
)

// errInterrupted is the error of a wait for input that was interrupted.
var errInterrupted = errors.New("interrupted")

// input is the state of a request for a line from the user.
type input struct {
	asking sync.Mutex // held while a request is open

	mu    sync.Mutex
	id    string                  // message id of the open input_request; empty if there is none
	stop  context.CancelCauseFunc // ends the wait; nil if there is none
	lines chan string             // the reply
}

// open begins a wait for the reply to the request id.
func (i *input) open(id string, stop context.CancelCauseFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id, i.stop = id, stop
	select { // drop the reply to an earlier request that nobody waits for
	case <-i.lines:
	default:
	}
}

// answer accepts the reply to the request id and reports whether it was expected. Clients
// need not name the request that they answer.
func (i *input) answer(id, line string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.id == "" || id != "" && id != i.id {
		return false
	}
	i.id = ""
	i.lines <- line
	return true
}

// interrupt ends the wait for input if there is one.
func (i *input) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stop != nil {
		i.stop(errInterrupted)
	}
}

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
	k.input.open(id, stop)
	defer k.input.open("", nil)
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
