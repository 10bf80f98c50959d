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

// The environment that the front sets.
const (
	// LinkVariable holds the file descriptors (on Windows the handles) of the
	// pipes to read from and to write to, separated by a comma.
	LinkVariable = "QUERN_WORKER_LINK"
	// MarkVariable holds the token of the marks.
	MarkVariable = "QUERN_WORKER_MARK"
	// RankVariable holds, for one of several workers that run each cell together,
	// its rank and their number: "1/4".
	RankVariable = "QUERN_WORKER_RANK"
)

// ErrNoFront is returned by Open in a process that no front has started.
var ErrNoFront = errors.New("not started by a kernel")

// Process is this process as a worker.
type Process struct {
	conn        *link.Conn
	output      *output
	rank, ranks int
}

// Open takes over what the front left to this process. It may be called once.
// The error is ErrNoFront when a person has started the process.
func Open() (*Process, error) {
	where, token := os.Getenv(LinkVariable), os.Getenv(MarkVariable)
	if where == "" || token == "" {
		return nil, ErrNoFront
	}
	// A program that the cell starts is no worker of the front.
	os.Unsetenv(LinkVariable)
	os.Unsetenv(MarkVariable)
	rank, ranks, err := rankOf(os.Getenv(RankVariable))
	if err != nil {
		return nil, err
	}
	os.Unsetenv(RankVariable)

	from, to, ok := strings.Cut(where, ",")
	readFrom, err1 := strconv.ParseUint(from, 10, 64)
	writeTo, err2 := strconv.ParseUint(to, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%s is %q, want two numbers", LinkVariable, where)
	}
	pipes, err := openLink(uintptr(readFrom), uintptr(writeTo))
	if err != nil {
		return nil, fmt.Errorf("link to the front: %w", err)
	}
	out, err := duplicate(os.Stdout)
	if err != nil {
		return nil, fmt.Errorf("standard output: %w", err)
	}
	errout, err := duplicate(os.Stderr)
	if err != nil {
		return nil, fmt.Errorf("standard error: %w", err)
	}
	p := newProcess(pipes, out, errout, token)
	p.rank, p.ranks = rank, ranks
	return p, nil
}

// rankOf reads a value of RankVariable. A worker without one is alone.
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

// Rank is the number of this process among those that run each cell together, from 0.
func (p *Process) Rank() int { return p.rank }

// Ranks is how many processes run each cell together.
func (p *Process) Ranks() int { return p.ranks }

func newProcess(pipes io.ReadWriteCloser, out, errout io.Writer, token string) *Process {
	return &Process{
		conn:   link.NewConn(pipes),
		output: &output{streams: [2]io.Writer{out, errout}, token: token},
		ranks:  1,
	}
}

// Serve answers the front with w until the front shuts the worker down or is
// gone, or ctx ends. It does not wait for a cell that still runs then: the
// caller ends the process.
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

// Front is what a cell may ask of the notebook. It works while Serve runs.
func (p *Process) Front() link.Host {
	return markedFront{link.NewFront(p.conn), p.output}
}

// Stdout writes to the standard output of a cell, whichever cell runs; 0 is the
// cell that runs. What is written here and to Stderr keeps its order.
func (p *Process) Stdout(cell int) io.Writer { return cellWriter{p.output, stdout, cell} }

// Stderr writes to the standard error of a cell, as Stdout does.
func (p *Process) Stderr(cell int) io.Writer { return cellWriter{p.output, stderr, cell} }

// marked is a worker with marks behind each cell and what else may put out.
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

func (m marked) Evaluate(ctx context.Context, request link.Evaluate) (link.Evaluations, error) {
	evaluations, err := m.Worker.Evaluate(ctx, request)
	evaluations.Mark = m.output.here()
	return evaluations, err
}

func (m marked) Comm(ctx context.Context, comm link.Comm) (link.CommReply, error) {
	reply, err := m.Worker.Comm(ctx, comm)
	reply.Mark = m.output.here()
	return reply, err
}

// InterruptHandlers passes on what the worker may know to do.
func (m marked) InterruptHandlers() {
	if h, ok := m.Worker.(link.HandlerInterrupter); ok {
		h.InterruptHandlers()
	}
}

// markedFront is the front with a mark at each display.
type markedFront struct {
	link.Host
	output *output
}

func (m markedFront) Display(display link.Display) error {
	return m.output.meet(func(number uint64) error {
		display.Mark = number
		err := m.Host.Display(display)
		if err != nil {
			// The mark is set: the front must not wait for what has no form.
			err = errors.Join(err, m.Host.Display(link.Display{Mark: number}))
		}
		return err
	})
}

func (m markedFront) Input(ctx context.Context, request link.InputRequest) (link.InputReply, error) {
	request.Mark = m.output.here()
	return m.Host.Input(ctx, request)
}

// duplexPipe is a stream over two pipes.
type duplexPipe struct {
	io.ReadCloser
	out io.WriteCloser
}

func (d duplexPipe) Write(p []byte) (int, error) { return d.out.Write(p) }

func (d duplexPipe) Close() error {
	return errors.Join(d.out.Close(), d.ReadCloser.Close())
}
