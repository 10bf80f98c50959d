//go:build !js

package kernel

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/quernlab/quern/kernel/history"
	"github.com/quernlab/quern/kernel/ranks"
	"github.com/quernlab/quern/kernel/seen"
	"github.com/quernlab/quern/kernel/transport"
	"github.com/quernlab/quern/kernel/wire"
	"github.com/quernlab/quern/kernel/worker"
)

// Config configures Run.
type Config struct {
	// ConnectionFile is the path of the Jupyter connection file, which says where to
	// listen.
	ConnectionFile string
	// Connection is used instead of a file if it is not nil.
	Connection *transport.Connection
	// Listening, if it is not nil, is called when the ports are bound. If it fails, the
	// kernel does not start, and Run returns its error.
	Listening func(ctx context.Context) error
	// Signals are signals that arrive by other means than the system's. If it is not nil,
	// os.Interrupt interrupts the running cell, and syscall.SIGTERM ends the kernel. It must
	// be buffered, because Run also uses it for the signals of the system.
	Signals chan os.Signal
	// WorkerCommand is the program that runs as worker, with its arguments.
	WorkerCommand []string
	// HistoryFile is the file with the cells of all sessions. If it is empty, the history
	// is only kept in memory.
	HistoryFile string
	// SeenDir is the directory with the signatures of received messages. With it,
	// messages that were received before a restart with the same connection file are
	// rejected afterIdle. If it is empty, signatures are not stored.
	SeenDir string
	// Version is the version of the kernel, for kernel_info_reply.
	Version string
	// Logger receives the log; nil discards it. The key of the connection is never
	// logged.
	Logger *slog.Logger

	subscriberTime time.Duration // the constant if it is 0
}

// drainTime is how long the last messages may take.
const drainTime = time.Second

// Run serves as the kernel of a connection file until a client shuts it down, its parent
// process exits, it receives SIGTERM, or ctx ends. It then returns nil.
//
// It fails with a *transport.ConnectionError if the connection file cannot be used, a
// *wire.SchemeError if it names an unsupported signature scheme, and a
// *transport.BindError if a port is in use. Each error is one line that says what to do.
func Run(ctx context.Context, config Config) error {
	log := slog.New(slog.DiscardHandler)
	if config.Logger != nil {
		handler := newAsyncHandler(config.Logger.Handler())
		defer handler.close()
		log = slog.New(handler)
	}
	if len(config.WorkerCommand) == 0 {
		return errors.New("kernel: Config.WorkerCommand is empty: set the program that runs the cells")
	}
	connection, err := config.connection()
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
			log.Warn("messages from before a restart of this kernel cannot be recognized as replayed", "error", err)
		})
		defer signatures.Close()
		codec.KeepSeen(signatures)
	}
	signals := config.Signals
	if signals == nil {
		signals = make(chan os.Signal, 8)
	}
	// Without a handler for SIGPIPE, a write to the log would end the process if the
	// process that started it no longer reads.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)

	sockets, err := listen(ctx, connection, codec.Verify, config.Listening, log, signals)
	if sockets == nil {
		return err
	}
	defer sockets.Close()

	past := openHistory(config.HistoryFile, log)
	defer past.Close()
	k := newKernel(codec, sockets, info(config.Version), past, log)
	k.publisher.awaitSubscriber(cmp.Or(config.subscriberTime, subscriberTime))
	k.live(ctx, ranks.New(worker.Program(config.WorkerCommand, ""), k, log), func(ctx context.Context) string {
		return k.wait(ctx, signals)
	})
	drain, cancelDrain := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancelDrain()
	if err := sockets.Drain(drain); err != nil {
		log.Warn("shutdown: some output was not sent in time", "error", err)
	}
	return nil
}

// connection returns the given connection, or that of the file.
func (c Config) connection() (*transport.Connection, error) {
	if c.Connection != nil {
		return c.Connection, c.Connection.Check()
	}
	return transport.ReadConnection(c.ConnectionFile)
}

// warn logs what makes a connection less secure than it could be.
func warn(log *slog.Logger, c *transport.Connection, file string) {
	if c.Exposed {
		log.Warn("other users of this machine can read the connection file, and with its key run code as you: chmod 600, and set umask 077 for the program that writes it", "file", file)
	}
	if c.Transport == "tcp" && c.Key != "" && !c.Encrypted() && !c.Loopback() {
		log.Warn("this kernel is reachable from other machines, and nothing is encrypted: anyone who sees the traffic can read cells and results. Use the address 127.0.0.1 and a tunnel, or CURVE keys", "ip", c.IP)
	}
}

// listen binds the sockets and calls listening. With the ipc transport, the sockets are files
// on a file system that may hang, and listening may wait for a network. The kernel can still be
// terminated then; listen returns neither sockets nor an error.
func listen(ctx context.Context, c *transport.Connection, verify func(frames [][]byte) error, listening func(context.Context) error, log *slog.Logger, signals <-chan os.Signal) (*transport.Sockets, error) {
	type result struct {
		sockets *transport.Sockets
		err     error
	}
	done := make(chan result, 1)
	go func() {
		sockets, err := transport.Listen(context.WithoutCancel(ctx), c, log, isWelcome, verify)
		if err == nil && listening != nil {
			if err = listening(ctx); err != nil {
				sockets.Close()
				sockets = nil
			}
		}
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

// wait returns when the kernel has to shut down, and why.
func (k *Kernel) wait(ctx context.Context, signals <-chan os.Signal) string {
	orphaned, interrupted := watchParent(ctx)
	for {
		select {
		case <-k.finished:
			return finishedByClient
		case <-orphaned:
			return "the parent process has exited"
		case <-ctx.Done():
			return ctx.Err().Error()
		case <-interrupted:
			k.interruptLogged(ctx)
		case s := <-signals:
			switch s {
			case os.Interrupt:
				k.interruptLogged(ctx)
			case syscall.SIGTERM, syscall.SIGHUP:
				return "signal " + s.String()
			}
		}
	}
}

func (k *Kernel) interruptLogged(ctx context.Context) {
	go func() { // a worker that does not respond must not block the shutdown
		if err := k.Interrupt(ctx); err != nil {
			k.log.Warn("interrupt", "error", err)
		}
	}()
}
