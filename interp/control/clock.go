package control

import "time"

// A clock measures for how long a cell had the chance to run.
type clock struct {
	start time.Time
	spent time.Duration

	last time.Time
	cpu  time.Duration
}

func startClock() *clock {
	now := time.Now()
	cpu, _ := ownCPU()
	return &clock{start: now, last: now, cpu: cpu}
}

// advance adds the time since the last call: real time if the cell was blocked, otherwise
// at most the CPU time that the process received.
func (c *clock) advance(blocked bool) {
	passed, cpu := c.tick()
	if !blocked {
		passed = min(passed, cpu)
	}
	c.spent += passed
}

// tick returns the time since the last call, and the CPU time that the process received in it, on all cores.
func (c *clock) tick() (passed, received time.Duration) {
	now := time.Now()
	cpu, known := ownCPU()
	passed, received = now.Sub(c.last), cpu-c.cpu
	if !known {
		received = passed
	}
	c.last, c.cpu = now, cpu
	return passed, received
}
