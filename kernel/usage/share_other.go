//go:build !linux

package usage

import (
	"context"

	"github.com/shirou/gopsutil/v4/process"
)

// share is only available on Linux.
func share(context.Context, *process.Process) (bytes uint64, ok bool) { return 0, false }
