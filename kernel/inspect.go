package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// inspect answers inspect_request with inspect_reply.
func (k *Kernel) inspect(ctx context.Context, _ *request, in wire.Inspect) (wire.Inspection, error) {
	inspection, err := link.Ask(ctx, k.worker, link.Inspect{Code: in.Code, Offset: in.Offset(), Detail: in.Detail})
	if err != nil {
		return wire.Inspection{}, err
	}
	return wire.NewInspection(inspection.Data), nil
}
