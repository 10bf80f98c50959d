package kernel

import (
	"context"
	"os"
	"runtime"

	"github.com/quernlab/quern/kernel/wire"
)

// usage answers usage_request with usage_reply: the resource usage of the kernel process,
// the worker and all processes that the worker started.
func (k *Kernel) usage(ctx context.Context, _ *request, _ empty) (wire.Usage, error) {
	m := k.meter.Measure(ctx)
	host, _ := os.Hostname() // empty if unknown
	u := wire.Usage{
		Host: host, PID: os.Getpid(), Cores: runtime.NumCPU(),
		KernelCPU: m.CPU, KernelMemory: m.Memory, HostCPU: m.HostCPU, HostMemory: wire.VirtualUsage(m.Host),
	}
	for i, g := range m.GPUs {
		u.GPUs = append(u.GPUs, wire.GPUUsage{Index: i, Name: g.Name, Percent: g.Busy, MemoryUsed: g.Used, MemoryTotal: g.All})
	}
	return wire.NewUsage(u), nil
}
