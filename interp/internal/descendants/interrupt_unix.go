//go:build unix

package descendants

import (
	"syscall"

	"github.com/shirou/gopsutil/v4/process"
)

func interrupt(p *process.Process) error { return p.SendSignal(syscall.SIGINT) }
