//go:build unix

package kernel

import (
	"context"
	"os"
	"strconv"
	"time"
)

// parentPoll is how often the parent is checked, as in ipykernel.
const parentPoll = time.Second

// watchParent closes orphaned when the process whose id is JPY_PARENT_PID has ended. It
// never sends on interrupted: on Unix, interrupts are signals.
func watchParent(ctx context.Context) (orphaned, interrupted <-chan struct{}) {
	parent, err := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	if err != nil || parent <= 1 {
		// There is nothing to watch, or the parent is init, which does not end.
		return nil, nil
	}
	if os.Getppid() != parent {
		// There is a process in between, such as a wrapper script. When that ends, this
		// process is inherited by init.
		parent = 0
	}
	gone := make(chan struct{})
	go func() {
		ticker := time.NewTicker(parentPoll)
		defer ticker.Stop()
		for {
			now := os.Getppid()
			if parent != 0 && now != parent || parent == 0 && now == 1 {
				close(gone)
				return
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return gone, nil
}
