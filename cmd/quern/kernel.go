package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/quernlab/quern/kernel"
	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/statefile"
)

const kernelUsage = `quern kernel serves the Jupyter connection file FILE. Jupyter calls this;
a person wants quern install.

  quern kernel -f FILE
`

func runKernel(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("kernel", flag.ContinueOnError)
	file := flags.String("f", "", "")
	if err := parse(flags, kernelUsage, args, std); err != nil {
		return err
	}
	if *file == "" {
		return &usageError{"kernel: the connection file is missing", "quern kernel -f FILE; to use the kernel in Jupyter, quern install"}
	}
	// A message passes a chain of goroutines, each of which does little. On one
	// thread that costs nothing; to wake a thread for each costs as much as a cell.
	// The worker, where the work is done, has all processors.
	runtime.GOMAXPROCS(1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the path of this program is unknown: %w", err)
	}
	log := newLogger(std.err, slog.LevelWarn)
	go keepSmall(ctx, log)
	return kernel.Run(ctx, kernel.Config{
		ConnectionFile: *file,
		WorkerCommand:  []string{self, "worker"},
		HistoryFile:    history.Path(),
		SeenDir:        seenDir(),
		Version:        buildVersion(),
		Logger:         log,
	})
}

// seenDir is where the signatures of messages are kept; empty if the user has no home.
func seenDir() string {
	dir, err := statefile.Dir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "seen")
}

// started is when the first client has surely been answered: collecting costs a
// start half as much again.
const started = time.Second

// keepSmall keeps small what the kernel process holds: of the program itself, most of which only
// the initialisation of packages has touched, and of the heap. When that is much, it
// waits for slow clients and is collected cheaply, since there are few pointers in it.
// The ballast, of which no page is ever touched, keeps the collector from running
// every few cells where the heap is small.
func keepSmall(ctx context.Context, log *slog.Logger) {
	select {
	case <-time.After(started):
	case <-ctx.Done():
		return
	}
	debug.FreeOSMemory()
	if err := releaseProgram(); err != nil {
		log.Info("the program stays in memory", "error", err)
	}
	ballast := make([]byte, 16<<20)
	debug.SetGCPercent(25)
	returnMemory(ctx)
	runtime.KeepAlive(ballast)
}

// returnMemory gives back to the system what large messages have needed, until ctx
// ends. The collector by itself takes minutes to look, when nothing more happens.
func returnMemory(ctx context.Context) {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		metrics.Read(held)
		if held[0].Value.Uint64()-held[1].Value.Uint64() > much {
			debug.FreeOSMemory()
		}
	}
}

const (
	lookEvery = 5 * time.Second
	much      = 64 << 20 // bytes
)
