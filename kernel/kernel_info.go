package kernel

import (
	"context"

	"github.com/quernlab/quern/kernel/wire"
)

// kernelInfo answers kernel_info_request with kernel_info_reply. It needs no worker, so
// the kernel is ready as soon as its sockets are.
func (k *Kernel) kernelInfo(context.Context, *request, empty) (wire.KernelInfo, error) {
	return k.info, nil
}
