package kernel

import (
	"context"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// watchParent closes orphaned when the process whose handle is JPY_PARENT_PID has ended,
// and sends on interrupted when the event JPY_INTERRUPT_EVENT is set.
func watchParent(ctx context.Context) (orphaned, interrupted <-chan struct{}) {
	gone, interrupts := make(chan struct{}), make(chan struct{})
	if parent, ok := handle("JPY_PARENT_PID"); ok {
		go func() {
			if wait(parent) {
				close(gone)
			}
		}()
	}
	if event, ok := handle("JPY_INTERRUPT_EVENT"); ok {
		go func() {
			for wait(event) {
				select {
				case interrupts <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return gone, interrupts
}

func handle(variable string) (windows.Handle, bool) {
	h, err := strconv.ParseUint(os.Getenv(variable), 10, 64)
	return windows.Handle(h), err == nil && h != 0
}

// wait waits for an object and reports whether that succeeded. The waiting goroutine
// lives until the end of the process.
func wait(h windows.Handle) bool {
	event, err := windows.WaitForSingleObject(h, windows.INFINITE)
	return err == nil && event == windows.WAIT_OBJECT_0
}
