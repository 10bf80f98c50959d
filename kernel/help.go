package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// help answers a cell that asks for help on a name: with a page payload, or with an error
// if nothing was found.
func (k *Kernel) help(ctx context.Context, r *request, in wire.Execute, count int, asked link.Inspect) any {
	inspection, err := link.Ask(ctx, k.worker, asked)
	switch {
	case err != nil:
		return k.cellFailed(r, in, count, workerError(err))
	case len(inspection.Data) == 0:
		return k.cellFailed(r, in, count, asked.NotFound())
	}
	return wire.NewExecuteOK(count, nil, wire.NewPage(inspection.Data))
}
