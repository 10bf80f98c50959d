//go:build !js

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

const kernelUsage = `quern kernel serves the Jupyter connection file FILE. It is called by Jupyter;
to use quern in Jupyter, run quern install.

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
	return serveKernel(ctx, kernel.Config{ConnectionFile: *file}, std)
}

// serveKernel runs a kernel whose config says only how it is connected.
func serveKernel(ctx context.Context, config kernel.Config, std stdio) error {
	// A message passes a chain of goroutines, each of which does little. On one thread
	// that costs nothing, while waking a thread for each costs as much as a cell. The
	// worker, where the computation happens, uses all cores.
	runtime.GOMAXPROCS(1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the path of this program: %w", err)
	}
	log := newLogger(std.err, slog.LevelWarn)
	go keepSmall(ctx, log)
	config.WorkerCommand = []string{self, "worker"}
	config.HistoryFile = history.Path()
	config.SeenDir = seenDir()
	config.Version = buildVersion()
	config.Logger = log
	return kernel.Run(ctx, config)
}

// seenDir returns the directory for signatures of messages, or "" if the user has no home
// directory.
func seenDir() string {
	dir, err := statefile.Dir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "seen")
}

// started is how long after its start the kernel has certainly answered its first client.
// A collection during the start would take half as long again.
const started = time.Second

// keepSmall limits the memory of the kernel process. It releases pages of the program,
// most of which only the initialization of packages has used, and limits the heap. If the
// heap is large, it contains messages for slow clients and is collected cheaply, since it
// has few pointers. If the heap is small, the ballast, whose pages are never touched,
// keeps the collector from running every few cells.
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

// returnMemory returns the memory of large messages to the system, until ctx ends. On its
// own, the collector may take minutes if nothing else happens.
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
