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

// Usage is one measurement. What the system does not tell is zero.
type Usage struct {
	// CPU is in percent of one core, of this process and all that it started,
	// since the measurement before.
	CPU float64
	// Memory is in bytes: resident, and where the system tells with what is shared
	// between processes divided among them.
	Memory  uint64
	HostCPU float64 // percent of all cores, since the measurement before
	Host    Memory
	GPUs    []GPU // nil where there are none, and in the first measurement
}

// Memory is that of the machine, in bytes.
type Memory struct {
	Total, Available, Used, Free uint64
	Percent                      float64
}

// A GPU is what all processes use of it.
type GPU struct {
	Name      string
	Busy      float64 // percent of the time in which it worked
	Used, All uint64  // bytes of its memory
}

// Meter measures. Its methods may be called from any goroutine.
type Meter struct {
	devices func() ([]gpu.Device, error)

	mu   sync.Mutex
	at   time.Time
	busy map[int32]float64 // seconds that each process had worked at that time
	gpus graphics
}

// New returns a meter of this process and its children. The GPUs are those of
// devices, which is called once, and not before the first measurement.
func New(devices func() ([]gpu.Device, error)) *Meter {
	return &Meter{devices: devices, at: time.Now(), busy: map[int32]float64{}}
}

// Measure measures.
func (m *Meter) Measure(ctx context.Context) Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var u Usage
	now, busy := time.Now(), map[int32]float64{}
	for _, p := range family(ctx) {
		seconds, memory := of(ctx, p)
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

// family is this process with all that it started, directly or not.
func family(ctx context.Context) []*process.Process {
	self, err := process.NewProcessWithContext(ctx, int32(os.Getpid()))
	if err != nil {
		return nil
	}
	all := []*process.Process{self}
	for i := 0; i < len(all); i++ {
		children, err := all[i].ChildrenWithContext(ctx)
		if err == nil { // there is an error also where there are none
			all = append(all, children...)
		}
	}
	return all
}

// of is how long a process has worked, in seconds, and its memory in bytes.
func of(ctx context.Context, p *process.Process) (seconds float64, memory uint64) {
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

// graphics are the GPUs, which one goroutine at a time asks.
type graphics struct {
	mu      sync.Mutex
	asking  bool
	opened  bool
	devices []gpu.Device
	found   []GPU
}

// last is what the GPUs said last; they are asked again.
func (g *graphics) last(devices func() ([]gpu.Device, error)) []GPU {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asking && (!g.opened || len(g.devices) > 0) {
		g.asking = true
		go g.ask(devices)
	}
	return g.found
}

func (g *graphics) ask(devices func() ([]gpu.Device, error)) {
	g.mu.Lock()
	opened, list := g.opened, g.devices
	g.mu.Unlock()
	if !opened && devices != nil {
		list, _ = devices() // without GPUs there is nothing to tell
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

// number is a measurement, or zero where there is none.
func number(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return x
}
