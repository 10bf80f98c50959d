package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/quernlab/quern/interp/collector"
	workers "github.com/quernlab/quern/kernel/worker"
	"github.com/quernlab/quern/kernel/worker/child"
)

// localWorker runs the worker in the process of the kernel, since a browser has only one.
type localWorker struct {
	refused error // why it does not start
	ended   chan struct{}
	stop    sync.Once
}

var _ workers.Runner = (*localWorker)(nil)

// newLocalWorker returns the worker of RunEmbedded.
func newLocalWorker(program string, environment []string) workers.Runner {
	w := &localWorker{ended: make(chan struct{})}
	switch {
	case program != "":
		w.refused = errors.New("a browser cannot run another program")
	case len(environment) > 0:
		w.refused = errors.New("a browser has one process, so there is one rank")
	}
	return w
}

// Start connects the worker with pipes in memory.
func (w *localWorker) Start(token string) (workers.Pipes, error) {
	if w.refused != nil {
		return workers.Pipes{}, w.refused
	}
	ours, theirs := net.Pipe()
	out, stdout := io.Pipe()
	errout, stderr := io.Pipe()
	process := child.New(theirs, stdout, stderr, token)
	go func() {
		defer w.stop.Do(func() { close(w.ended) })
		if err := w.serve(process); err != nil {
			log.Print(err)
		}
		stdout.Close()
		stderr.Close()
		theirs.Close()
	}()
	return workers.Pipes{Link: ours, Stdout: out, Stderr: errout}, nil
}

// memory makes the garbage collector work harder before a program reaches the 4 GiB that WebAssembly can address.
const memory = 7 << 29

func (w *localWorker) serve(process *child.Process) error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(memory)
	output := func(cell int) (stdout, stderr io.Writer) { return process.Stdout(cell), process.Stderr(cell) }
	// Package log belongs to the cells.
	log.SetOutput(process.Stderr(0))
	os.Args = os.Args[:1]
	handler, err := newWorker(process, output)
	if err != nil {
		return err
	}
	collector.Run()
	return process.Serve(context.Background(), handler)
}

// Wait waits until the worker has been shut down.
func (w *localWorker) Wait() string {
	<-w.ended
	return "it has ended"
}

// Kill ends the program, unless the worker has ended: a goroutine cannot be ended. The page starts the kernel again.
func (w *localWorker) Kill() {
	w.stop.Do(func() {
		fmt.Fprintln(os.Stderr, "quern: the cell did not end, so the kernel starts again")
		os.Exit(2)
	})
}

// Usage is not known.
func (*localWorker) Usage() (cpu time.Duration, stopped, known bool) { return 0, false, false }

// ID identifies the worker in logs.
func (*localWorker) ID() string { return "in this page" }

// Diagnose has nothing to add.
func (*localWorker) Diagnose() string { return "" }
