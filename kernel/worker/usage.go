package worker

import (
	"math"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// Usage returns the CPU time that the process has used, and whether a signal (SIGSTOP, a
// debugger) has stopped it. known is false if the system does not report it.
func (c *Command) Usage() (cpu time.Duration, stopped, known bool) {
	if c.cmd.Process == nil || c.cmd.Process.Pid > math.MaxInt32 {
		return 0, false, false
	}
	p := &process.Process{Pid: int32(c.cmd.Process.Pid)}
	times, err := p.Times()
	if err != nil {
		return 0, false, false
	}
	state, err := p.Status()
	stopped = err == nil && slices.Contains(state, process.Stop)
	return time.Duration((times.User + times.System) * float64(time.Second)), stopped, true
}
