package usage

import (
	"context"

	"github.com/shirou/gopsutil/v4/process"
)

// share returns the memory of a process in bytes, with shared memory divided among the
// processes that share it: the kernel process and the worker run the same program.
func share(ctx context.Context, p *process.Process) (bytes uint64, ok bool) {
	maps, err := p.MemoryMapsWithContext(ctx, true)
	if err != nil || maps == nil || len(*maps) != 1 {
		return 0, false
	}
	return (*maps)[0].Pss << 10, true
}
