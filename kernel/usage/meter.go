package usage

import (
	"context"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/quernlab/quern/gpu"
	"github.com/quernlab/quern/kernel/wire"
)

// Meter measures resource usage. Its methods may be called from any goroutine.
type Meter struct {
	devices func() ([]gpu.Device, error)

	mu   sync.Mutex
	at   time.Time
	busy map[int32]float64 // CPU seconds of each process at that time
	gpus gpuQuery
}

// New returns a meter of this process and its descendants. The GPUs are those of devices,
// which is called once, at the first measurement.
func New(devices func() ([]gpu.Device, error)) *Meter {
	return &Meter{devices: devices, at: time.Now(), busy: map[int32]float64{}}
}

// Measure returns the usage since the previous call. Values that the system does not provide are zero; GPUs is nil in
// the first measurement.
func (m *Meter) Measure(ctx context.Context) wire.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	host, _ := os.Hostname() // empty if unknown
	u := wire.Usage{Host: host, PID: os.Getpid(), Cores: runtime.NumCPU()}
	now, busy := time.Now(), map[int32]float64{}
	for _, p := range family(ctx) {
		seconds, memory := measure(ctx, p)
		u.KernelMemory += memory
		busy[p.Pid] = seconds
		if elapsed := now.Sub(m.at).Seconds(); elapsed > 0 {
			u.KernelCPU += max(0, 100*(seconds-m.busy[p.Pid])/elapsed)
		}
	}
	m.at, m.busy = now, busy
	if percent, err := cpu.PercentWithContext(ctx, 0, false); err == nil && len(percent) == 1 {
		u.HostCPU = percent[0]
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		u.HostMemory = wire.VirtualUsage{Total: v.Total, Available: v.Available, Used: v.Used, Free: v.Free, Percent: v.UsedPercent}
	}
	u.GPUs = m.gpus.last(m.devices)
	return u
}

// family returns this process and its descendants.
func family(ctx context.Context) []*process.Process {
	self, err := process.NewProcessWithContext(ctx, int32(os.Getpid()))
	if err != nil {
		return nil
	}
	all := []*process.Process{self}
	for i := 0; i < len(all); i++ {
		children, err := all[i].ChildrenWithContext(ctx)
		if err == nil { // having no children is an error too
			all = append(all, children...)
		}
	}
	return all
}

// measure returns the CPU time of a process in seconds and its memory in bytes.
func measure(ctx context.Context, p *process.Process) (seconds float64, memory uint64) {
	if times, err := p.TimesWithContext(ctx); err == nil {
		seconds = times.User + times.System
	}
	if bytes, ok := share(ctx, p); ok {
		return seconds, bytes
	}
	if info, err := p.MemoryInfoWithContext(ctx); err == nil {
		memory = info.RSS
	}
	return seconds, memory
}

// gpuQuery queries the GPUs in the background, from at most one goroutine.
type gpuQuery struct {
	mu      sync.Mutex
	asking  bool
	opened  bool
	devices []gpu.Device
	found   []wire.GPUUsage
}

// last returns the latest values of the GPUs and starts another query.
func (g *gpuQuery) last(devices func() ([]gpu.Device, error)) []wire.GPUUsage {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asking && (!g.opened || len(g.devices) > 0) {
		g.asking = true
		go g.ask(devices)
	}
	return g.found
}

func (g *gpuQuery) ask(devices func() ([]gpu.Device, error)) {
	g.mu.Lock()
	opened, list := g.opened, g.devices
	g.mu.Unlock()
	if !opened && devices != nil {
		list, _ = devices() // on an error there are no GPUs to report
	}
	var found []wire.GPUUsage
	for i, d := range list {
		s := d.Sample()
		found = append(found, wire.GPUUsage{
			Index: i, Name: d.Name(), Percent: number(s.Busy), MemoryUsed: uint64(number(s.MemUsed)), MemoryTotal: uint64(number(s.MemTotal)),
		})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asking, g.opened, g.devices, g.found = false, true, list, found
}

// number returns x, or 0 if it is not a number.
func number(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return x
}
