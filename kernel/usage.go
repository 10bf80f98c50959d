package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// usage answers usage_request with usage_reply: the resource usage of the kernel process,
// the worker and all processes that the worker started.
func (k *Kernel) usage(ctx context.Context, _ *request, _ empty) (wire.Usage, error) {
	return wire.NewUsage(k.meter.Measure(ctx)), nil
}
