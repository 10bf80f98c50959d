package kernel

import (
	"context"
	"os"
	"runtime"

	"github.com/quernlab/quern/kernel/wire"
)

// usage answers usage_request with usage_reply: what the front, the worker and
// all that the worker started use.
func (k *Kernel) usage(ctx context.Context, _ *request, _ empty) (wire.Usage, error) {
	m := k.meter.Measure(ctx)
	host, _ := os.Hostname() // empty where the system does not tell
	u := wire.Usage{
		Host: host, PID: os.Getpid(), Cores: runtime.NumCPU(),
		KernelCPU: m.CPU, KernelMemory: m.Memory, HostCPU: m.HostCPU, HostMemory: wire.VirtualUsage(m.Host),
	}
	for i, g := range m.GPUs {
		u.GPUs = append(u.GPUs, wire.GPUUsage{Index: i, Name: g.Name, Percent: g.Busy, MemoryUsed: g.Used, MemoryTotal: g.All})
	}
	return wire.NewUsage(u), nil
}
