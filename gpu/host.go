package gpu

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"
)

// Host returns the machine's CPU and memory, or the share that the container may use. It cannot
// fail: what the system does not report is NaN in the samples.
//
// Busy covers the time since the previous sample, and is NaN if that is less than 50 ms ago,
// because the system counts in steps of 10 ms. Energy and power are those of the CPU packages,
// if the system allows the process to read them.
func Host() Device {
	h := &host{limits: readContainer(os.DirFS("/")), cores: float64(runtime.NumCPU()), power: newRAPL(os.DirFS("/"))}
	if p, err := process.NewProcess(int32(os.Getpid())); err == nil {
		h.process = p
	}
	if h.limits.cores > 0 {
		h.cores = min(h.cores, h.limits.cores)
	}
	h.name = cpuName(h.cores)
	h.last = h.read()
	return h
}

// cpuName returns a name such as "AMD EPYC 7B13, 4 cores".
func cpuName(cores float64) string {
	name := "CPU"
	if info, err := cpu.Info(); err == nil && len(info) > 0 {
		if model := strings.Join(strings.Fields(info[0].ModelName), " "); model != "" {
			name = model
		}
	}
	unit := " cores"
	if cores == 1 {
		unit = " core"
	}
	return name + ", " + strconv.FormatFloat(math.Round(cores*10)/10, 'f', -1, 64) + unit
}

type host struct {
	name    string
	cores   float64 // that may be used, for instance 1.5 in a container
	limits  container
	process *process.Process // nil if the system does not report it

	mu    sync.Mutex
	last  reading // the previous one, guarded by mu
	power *rapl   // guarded by mu
}

// reading holds counters that only increase, in seconds of CPU time.
type reading struct {
	at      time.Time
	busy    float64 // of all processes of the machine or the container
	process float64
}

// soonest is the least number of seconds between two samples from which busy time can be
// computed.
const soonest = .05

func (h *host) Name() string { return h.name }
func (h *host) Close() error { return nil }

func (h *host) Sample() Sample {
	now := h.read()
	s := unmeasured(now.at)
	h.mu.Lock()
	before := h.last
	wall := now.at.Sub(before.at).Seconds()
	if wall >= soonest {
		h.last = now
	}
	s.Joules, s.Watts = h.power.read(now.at)
	h.mu.Unlock()
	if wall >= soonest {
		share := func(spent float64) float64 {
			return min(max(100*spent/(wall*h.cores), 0), 100) // NaN stays NaN
		}
		s.Busy = share(now.busy - before.busy)
		s.ProcessBusy = share(now.process - before.process)
	}
	if m, err := mem.VirtualMemory(); err == nil {
		s.MemUsed, s.MemTotal = float64(m.Total-m.Available), float64(m.Total)
	}
	// The system counts the memory of all containers; use the account of this one.
	if limit := h.limits.memory; limit > 0 && !(limit >= s.MemTotal) {
		s.MemTotal = limit
		s.MemUsed = h.limits.memoryUsed()
	}
	if h.process != nil {
		if m, err := h.process.MemoryInfo(); err == nil {
			s.ProcessMem = float64(m.RSS)
		}
	}
	return s
}

func (h *host) read() reading {
	r := reading{at: time.Now(), busy: math.NaN(), process: math.NaN()}
	if h.limits.cores > 0 {
		r.busy = h.limits.cpuTime()
	} else if times, err := cpu.Times(false); err == nil && len(times) == 1 {
		r.busy = busyTime(times[0])
	}
	if h.process != nil {
		if t, err := h.process.Times(); err == nil {
			r.process = t.User + t.System
		}
	}
	return r
}

// busyTime returns the seconds in which cores were busy. Linux already includes guest time in
// user time.
func busyTime(t cpu.TimesStat) float64 {
	return t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal
}
