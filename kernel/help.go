package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// help answers a cell that asks what a name means: with a page, or with an
// error if nothing is known.
func (k *Kernel) help(ctx context.Context, r *request, in wire.Execute, count int, asked link.Inspect) any {
	inspection, err := k.worker.Inspect(ctx, asked)
	switch {
	case err != nil:
		return k.cellFailed(r, in, count, workerError(err))
	case len(inspection.Data) == 0:
		return k.cellFailed(r, in, count, asked.Unknown())
	}
	return wire.NewExecuteOK(count, nil, wire.NewPage(inspection.Data))
}
