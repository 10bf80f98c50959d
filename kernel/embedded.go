package kernel

import (
	"context"
	"log/slog"

	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/ranks"
	"github.com/quernlab/quern/kernel/wire"
	"github.com/quernlab/quern/kernel/worker"
)

// Embedded configures RunEmbedded.
type Embedded struct {
	// Sockets carry the messages, which are not signed.
	Sockets Sockets
	// NewWorker makes a worker, given the path of its program, which is empty unless a cell has asked for another one, and
	// the variables of its environment.
	NewWorker func(program string, environment []string) worker.Runner
	// Version is the version of the kernel, for kernel_info_reply.
	Version string
	// Logger receives the log; nil discards it.
	Logger *slog.Logger
}

// RunEmbedded serves as a kernel without a process, a connection file and ports of its own, for instance in a browser. It
// returns nil when a client has shut it down or ctx ends.
func RunEmbedded(ctx context.Context, config Embedded) error {
	log := config.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	codec, err := wire.NewCodec(wire.Scheme, nil)
	if err != nil {
		return err
	}
	past := history.New()
	defer past.Close()
	k := newKernel(codec, config.Sockets, info(config.Version), past, log)
	k.live(ctx, ranks.New(config.NewWorker, k, log), func(ctx context.Context) string {
		select {
		case <-k.finished:
			return finishedByClient
		case <-ctx.Done():
			return ctx.Err().Error()
		}
	})
	return nil
}
