package usage

import (
	"context"
	"math"
	"os"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/quernlab/quern/gpu"
)

// Usage is one measurement. Values that the system does not provide are zero.
type Usage struct {
	// CPU is the usage of this process and its descendants since the previous
	// measurement, in percent of one core.
	CPU float64
	// Memory is the resident memory in bytes. On Linux, memory that is shared between
	// processes is divided among them.
	Memory  uint64
	HostCPU float64 // percent of all cores since the previous measurement
	Host    Memory
	GPUs    []GPU // nil if there are none, and in the first measurement
}

// Memory is the memory of the machine, in bytes.
type Memory struct {
	Total, Available, Used, Free uint64
	Percent                      float64
}

// GPU is the usage of a GPU by all processes.
type GPU struct {
	Name      string
	Busy      float64 // percent of the time during which it was busy
	Used, All uint64  // bytes of its memory
}

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

// Measure returns the usage since the previous call.
func (m *Meter) Measure(ctx context.Context) Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var u Usage
	now, busy := time.Now(), map[int32]float64{}
	for _, p := range family(ctx) {
		seconds, memory := measure(ctx, p)
		u.Memory += memory
		busy[p.Pid] = seconds
		if elapsed := now.Sub(m.at).Seconds(); elapsed > 0 {
			u.CPU += max(0, 100*(seconds-m.busy[p.Pid])/elapsed)
		}
	}
	m.at, m.busy = now, busy
	if percent, err := cpu.PercentWithContext(ctx, 0, false); err == nil && len(percent) == 1 {
		u.HostCPU = percent[0]
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		u.Host = Memory{v.Total, v.Available, v.Used, v.Free, v.UsedPercent}
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
	found   []GPU
}

// last returns the latest values of the GPUs and starts another query.
func (g *gpuQuery) last(devices func() ([]gpu.Device, error)) []GPU {
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
	var found []GPU
	for _, d := range list {
		s := d.Sample()
		found = append(found, GPU{Name: d.Name(), Busy: number(s.Busy), Used: uint64(number(s.MemUsed)), All: uint64(number(s.MemTotal))})
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
