package kernel

import (
	"context"
	"os"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/quernlab/quern/kernel/wire"
)

// usage answers usage_request with usage_reply: what the front, the worker and
// all that the worker started use. What the system does not tell stays zero.
func (k *Kernel) usage(ctx context.Context, _ *request, _ empty) (wire.Usage, error) {
	host, _ := os.Hostname()
	u := wire.Usage{Host: host, PID: os.Getpid(), Cores: runtime.NumCPU()}
	if self, err := process.NewProcessWithContext(ctx, int32(u.PID)); err == nil {
		addUsage(ctx, &u, self)
	}
	if percent, err := cpu.PercentWithContext(ctx, 0, false); err == nil && len(percent) == 1 {
		u.HostCPU = percent[0]
	}
	if memory, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		u.HostMemory = wire.VirtualUsage{
			Total: memory.Total, Available: memory.Available, Used: memory.Used, Free: memory.Free, Percent: memory.UsedPercent,
		}
	}
	return wire.NewUsage(u), nil
}

// addUsage adds what a process and its children use.
func addUsage(ctx context.Context, u *wire.Usage, p *process.Process) {
	if percent, err := p.CPUPercentWithContext(ctx); err == nil {
		u.KernelCPU += percent
	}
	if memory, err := p.MemoryInfoWithContext(ctx); err == nil {
		u.KernelMemory += memory.RSS
	}
	children, err := p.ChildrenWithContext(ctx)
	if err != nil { // also when there are none
		return
	}
	for _, child := range children {
		addUsage(ctx, u, child)
	}
}
