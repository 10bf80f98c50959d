//go:build unix

package kernel

import (
	"context"
	"os"
	"strconv"
	"time"
)

// parentPoll is how often the parent is looked for, as ipykernel does.
const parentPoll = time.Second

// watchParent closes orphaned when the process that JPY_PARENT_PID names has
// ended. It never interrupts: on Unix that comes as a signal.
func watchParent(ctx context.Context) (orphaned, interrupted <-chan struct{}) {
	parent, err := strconv.Atoi(os.Getenv("JPY_PARENT_PID"))
	if err != nil || parent <= 1 {
		// Nobody asked, or the parent is init, which does not end.
		return nil, nil
	}
	if os.Getppid() != parent {
		// Something stands between the two, a wrapper script for instance; when
		// that ends, init inherits this process.
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
