package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/quernlab/quern/kernel/link"
)

// Environment variables that the kernel process sets.
const (
	// LinkVariable holds the file descriptors (on Windows the handles) of the pipes to
	// read from and to write to, separated by a comma.
	LinkVariable = "QUERN_WORKER_LINK"
	// MarkVariable holds the token of the marks.
	MarkVariable = "QUERN_WORKER_MARK"
	// RankVariable holds the rank and the number of ranks, such as "1/4", if several
	// workers run each cell together.
	RankVariable = "QUERN_WORKER_RANK"
	// NoStacks is the value of GOTRACEBACK with which a kernel starts a worker unless its user has set one. It
	// means none, but is written as a number, so that a worker can distinguish it from the setting of a user.
	NoStacks = "0"
)

// ErrNoKernel is returned by Open if no kernel process has started this process.
var ErrNoKernel = errors.New("not started by a kernel")

// Process is this process as a worker.
type Process struct {
	conn        *link.Conn
	output      *output
	rank, ranks int
}

// Open connects this process to the kernel process that started it. It may be called
// once. The error is ErrNoKernel if the process was started in another way.
func Open() (*Process, error) {
	where, token := os.Getenv(LinkVariable), os.Getenv(MarkVariable)
	if where == "" || token == "" {
		return nil, ErrNoKernel
	}
	// Programs that a cell starts are not workers.
	os.Unsetenv(LinkVariable)
	os.Unsetenv(MarkVariable)
	rank, ranks, err := rankOf(os.Getenv(RankVariable))
	if err != nil {
		return nil, err
	}
	os.Unsetenv(RankVariable)
	if os.Getenv("GOTRACEBACK") == NoStacks {
		os.Unsetenv("GOTRACEBACK") // the runtime has read it; a Go program of a cell shows its stacks
	}

	from, to, ok := strings.Cut(where, ",")
	readFrom, err1 := strconv.ParseUint(from, 10, 64)
	writeTo, err2 := strconv.ParseUint(to, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%s is %q, want two numbers separated by a comma", LinkVariable, where)
	}
	pipes, err := openLink(uintptr(readFrom), uintptr(writeTo))
	if err != nil {
		return nil, fmt.Errorf("open the link to the kernel: %w", err)
	}
	out, err := duplicate(os.Stdout)
	if err != nil {
		return nil, fmt.Errorf("duplicate standard output: %w", err)
	}
	errout, err := duplicate(os.Stderr)
	if err != nil {
		return nil, fmt.Errorf("duplicate standard error: %w", err)
	}
	p := New(pipes, out, errout, token)
	p.rank, p.ranks = rank, ranks
	return p, nil
}

// rankOf parses a value of RankVariable. Without one, there is one rank.
func rankOf(text string) (rank, ranks int, err error) {
	if text == "" {
		return 0, 1, nil
	}
	number, all, ok := strings.Cut(text, "/")
	rank, err1 := strconv.Atoi(number)
	ranks, err2 := strconv.Atoi(all)
	if !ok || err1 != nil || err2 != nil || rank < 0 || rank >= ranks {
		return 0, 0, fmt.Errorf("%s is %q, want a rank and the number of ranks, as 1/4", RankVariable, text)
	}
	return rank, ranks, nil
}

// Rank returns the rank of this process among those that run each cell together, from 0.
func (p *Process) Rank() int { return p.rank }

// Ranks returns how many processes run each cell together.
func (p *Process) Ranks() int { return p.ranks }

// New returns a worker in the process of the kernel. It uses pipes and writes output, with marks that contain token, as a
// worker process does with the streams of a [worker.Pipes].
func New(pipes io.ReadWriteCloser, out, errout io.Writer, token string) *Process {
	return &Process{
		conn:   link.NewConn(pipes),
		output: &output{streams: [2]io.Writer{out, errout}, token: token},
		ranks:  1,
	}
}

// Serve answers the requests of the kernel process with w until the kernel process shuts
// the worker down or is gone, or ctx ends. It does not wait for a cell that is still
// running then: the caller ends the process.
func (p *Process) Serve(ctx context.Context, w link.Worker) error {
	served := make(chan error, 1)
	go func() { served <- link.ServeWorker(ctx, p.conn, marked{w, p.output}) }()
	select {
	case err := <-served:
		return err
	case <-p.conn.Done():
		return ctx.Err()
	}
}

// Host returns what a cell may request from the kernel process. It works while Serve runs.
func (p *Process) Host() link.Host {
	return markedHost{link.NewHost(p.conn), p.output}
}

// Stdout returns a writer to the standard output of a cell, whichever cell is running; 0
// is the running cell. The order of writes to it and to Stderr is preserved.
func (p *Process) Stdout(cell int) io.Writer { return cellWriter{p.output, stdout, cell} }

// Stderr returns a writer to the standard error of a cell, as Stdout does.
func (p *Process) Stderr(cell int) io.Writer { return cellWriter{p.output, stderr, cell} }

// marked is a worker that writes marks after each cell and after all other requests that
// may produce output.
type marked struct {
	link.Worker
	output *output
}

func (m marked) Execute(ctx context.Context, request link.Execute) (link.Result, error) {
	m.output.begin(request.Cell)
	result, err := m.Worker.Execute(ctx, request)
	result.Mark = m.output.end()
	return result, err
}

func (m marked) Ask(ctx context.Context, request link.Request) (any, error) {
	reply, err := m.Worker.Ask(ctx, request)
	if mark := link.MarkOf(reply); mark != nil {
		*mark = m.output.flush()
	}
	return reply, err
}

// InterruptHandlers implements link.HandlerInterrupter if the worker does.
func (m marked) InterruptHandlers() {
	if h, ok := m.Worker.(link.HandlerInterrupter); ok {
		h.InterruptHandlers()
	}
}

// markedHost is the host with a mark at each display.
type markedHost struct {
	link.Host
	output *output
}

func (m markedHost) Display(display link.Display) error {
	return m.output.event(func(number uint64) error {
		display.Mark = number
		err := m.Host.Display(display)
		if err != nil {
			// The mark has been written, so the kernel process waits for an event with
			// its number.
			err = errors.Join(err, m.Host.Display(link.Display{Mark: number}))
		}
		return err
	})
}

func (m markedHost) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	request.Mark = m.output.flush()
	return m.Host.Input(ctx, request)
}

// duplexPipe is a bidirectional stream made of two pipes.
type duplexPipe struct {
	io.ReadCloser
	out io.WriteCloser
}

func (d duplexPipe) Write(p []byte) (int, error) { return d.out.Write(p) }

func (d duplexPipe) Close() error {
	return errors.Join(d.out.Close(), d.ReadCloser.Close())
}
