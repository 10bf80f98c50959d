package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/ranks"
	"github.com/quernlab/quern/kernel/seen"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
	"github.com/quernlab/quern/kernel/worker"
)

// Config is what Run needs.
type Config struct {
	// ConnectionFile is the path of the file that says where to listen.
	ConnectionFile string
	// WorkerCommand is the program that serves as worker, with its arguments.
	WorkerCommand []string
	// HistoryFile keeps the cells of all sessions; empty is in memory only.
	HistoryFile string
	// SeenDir is the directory that keeps the signatures of messages, so that those which
	// came before a restart with the same connection file are rejected afterwards; empty
	// keeps none.
	SeenDir string
	// Version is that of the kernel, for kernel_info.
	Version string
	// Logger takes what the kernel has to say beside the protocol; nil is
	// nothing. The key of the connection is never logged.
	Logger *slog.Logger
}

// How long the end of a kernel may take. A client that shuts it down kills it
// after five seconds.
const (
	workerEnds  = 1500 * time.Millisecond
	repliesEnd  = time.Second
	outputDrain = time.Second
)

// Run serves as the kernel of a connection file until a client shuts it down,
// its parent dies, it is told to terminate or ctx ends; it then returns nil.
//
// It fails with a *transport.ConnectionError when the connection file cannot be
// used, a *wire.SchemeError when it asks for another signature scheme, and a
// *transport.BindError when a port is taken. The text of each is one line that
// says what to do.
func Run(ctx context.Context, config Config) error {
	log := slog.New(slog.DiscardHandler)
	if config.Logger != nil {
		handler := newPatientHandler(config.Logger.Handler())
		defer handler.close()
		log = slog.New(handler)
	}
	if len(config.WorkerCommand) == 0 {
		return errors.New("kernel: no worker command")
	}
	connection, err := transport.ReadConnection(config.ConnectionFile)
	if err != nil {
		return err
	}
	warn(log, connection, config.ConnectionFile)
	codec, err := wire.NewCodec(connection.Scheme, []byte(connection.Key))
	if err != nil {
		return err
	}
	if config.SeenDir != "" && connection.Key != "" {
		signatures := seen.Open(config.SeenDir, []byte(connection.Key), func(err error) {
			log.Warn("messages that were recorded before a restart of this kernel are not recognised", "error", err)
		})
		defer signatures.Close()
		codec.KeepSeen(signatures)
	}
	signals := make(chan os.Signal, 8)
	// Without a handler for SIGPIPE, a line of the log ends the process once
	// whoever started it no longer reads.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sockets, err := listen(context.WithoutCancel(ctx), connection, codec.Verify, log, signals)
	if sockets == nil {
		return err
	}
	defer sockets.Close()

	past := openHistory(config.HistoryFile, log)
	defer past.Close()
	k := newKernel(codec, sockets, info(config.Version), past, log)
	workers := ranks.New(worker.Program(config.WorkerCommand), k, log)
	k.worker = workers
	k.publisher.awaitSubscriber()
	served := make(chan struct{})
	go func() {
		defer close(served)
		k.serve(ctx)
	}()
	// The kernel answers what needs no worker while that starts.
	go workers.Start()

	why := k.wait(ctx, signals)
	log.Info("kernel ends", "why", why)
	cancel()
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), workerEnds)
	defer cancelEnd()
	if err := workers.Shutdown(end); err != nil {
		log.Warn("worker shut down", "error", err)
	}
	select {
	case <-served:
	case <-time.After(repliesEnd):
		log.Warn("replies are missing at the end")
	}
	drain, cancelDrain := context.WithTimeout(context.WithoutCancel(ctx), outputDrain)
	defer cancelDrain()
	if err := sockets.Drain(drain); err != nil {
		log.Warn("output is missing at the end", "error", err)
	}
	return nil
}

// warn logs what makes a connection less safe than it could be.
func warn(log *slog.Logger, c *transport.Connection, file string) {
	if c.Exposed {
		log.Warn("other users of this machine can read the connection file, and with its key run code as you: chmod 600, and umask 077 for what writes it", "file", file)
	}
	if c.Transport == "tcp" && c.Key != "" && !c.Encrypted() && !c.Loopback() {
		log.Warn("this kernel listens beyond this machine, and nothing is encrypted: whoever sees the traffic reads cells and results. Use the address 127.0.0.1 and a tunnel, or CURVE keys", "ip", c.IP)
	}
}

// listen binds the sockets. Those of the ipc transport are files, and their file
// system may hang: the kernel then still ends when it is told to, without sockets and
// without an error.
func listen(ctx context.Context, c *transport.Connection, verify func(frames [][]byte) error, log *slog.Logger, signals <-chan os.Signal) (*transport.Sockets, error) {
	type result struct {
		sockets *transport.Sockets
		err     error
	}
	done := make(chan result, 1)
	go func() {
		sockets, err := transport.Listen(ctx, c, log, isWelcome, verify)
		done <- result{sockets, err}
	}()
	for {
		select {
		case r := <-done:
			return r.sockets, r.err
		case s := <-signals:
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				return nil, nil
			}
		}
	}
}

func openHistory(path string, log *slog.Logger) *history.History {
	if path == "" {
		return history.New()
	}
	return history.Open(path, func(err error) { log.Warn("history", "error", err) })
}

// wait returns when the kernel has to end, and why.
func (k *Kernel) wait(ctx context.Context, signals <-chan os.Signal) string {
	orphaned, interrupted := watchParent(ctx)
	for {
		select {
		case <-k.finished:
			return "shut down by a client"
		case <-orphaned:
			return "the parent has ended"
		case <-ctx.Done():
			return ctx.Err().Error()
		case <-interrupted:
			k.interruptLogged(ctx)
		case s := <-signals:
			switch s {
			case os.Interrupt:
				k.interruptLogged(ctx)
			case syscall.SIGTERM, syscall.SIGHUP:
				return "told to terminate"
			}
		}
	}
}

func (k *Kernel) interruptLogged(ctx context.Context) {
	go func() { // a worker that is stuck must not keep the kernel from ending
		if err := k.Interrupt(ctx); err != nil {
			k.log.Warn("interrupt", "error", err)
		}
	}()
}

// info is what kernel_info tells.
func info(version string) wire.KernelInfo {
	language := strings.TrimPrefix(runtime.Version(), "go")
	return wire.KernelInfo{
		Implementation:        "quern",
		ImplementationVersion: version,
		LanguageInfo:          wire.GoLanguage(language),
		SupportedFeatures:     []string{"kernel subshells"},
		Banner:                fmt.Sprintf("Quern %s, Go %s on %s/%s\nGo in a notebook: state lives between cells, imports are found by themselves.", version, language, runtime.GOOS, runtime.GOARCH),
		HelpLinks: []wire.HelpLink{
			{Text: "Quern", URL: "https://github.com/quernlab/quern"},
			{Text: "Go standard library", URL: "https://pkg.go.dev/std"},
			{Text: "Effective Go", URL: "https://go.dev/doc/effective_go"},
			{Text: "Go specification", URL: "https://go.dev/ref/spec"},
		},
	}
}
