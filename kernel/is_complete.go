package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/wire"
)

// isComplete answers is_complete_request with is_complete_reply.
func (k *Kernel) isComplete(ctx context.Context, _ *request, in wire.IsComplete) (wire.Completeness, error) {
	completeness, err := link.Ask(ctx, k.worker, link.Check{Code: in.Code})
	if err != nil {
		return wire.Completeness{}, err
	}
	return wire.NewCompleteness(completeness.Status, completeness.Indent), nil
}
