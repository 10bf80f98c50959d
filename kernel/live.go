package kernel

import (
	"context"
	"time"

	"github.com/quernlab/quern/kernel/ranks"
)

// Time limits for shutting down. A client that shuts down a kernel kills it after five
// seconds.
const (
	workerShutdownTime = 1500 * time.Millisecond
	repliesTime        = time.Second
)

// finishedByClient is a reason to shut down.
const finishedByClient = "shutdown request from a client"

// live starts the workers and serves requests until wait returns the reason to shut down, and
// then shuts the workers down.
func (k *Kernel) live(ctx context.Context, workers *ranks.Group, wait func(context.Context) (why string)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.worker = workers
	served := make(chan struct{})
	go func() {
		defer close(served)
		k.serve(ctx)
	}()
	// The kernel process already answers requests that need no worker while the worker
	// starts.
	go workers.Start()

	k.log.Info("kernel shuts down", "why", wait(ctx))
	cancel()
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), workerShutdownTime)
	defer cancelEnd()
	if err := workers.Shutdown(end); err != nil {
		k.log.Warn("shut down worker", "error", err)
	}
	select {
	case <-served:
	case <-time.After(repliesTime):
		k.log.Warn("shutdown: some requests were not answered in time")
	}
}
