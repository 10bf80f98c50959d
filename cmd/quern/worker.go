package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/collector"
	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker/child"
	"github.com/quernlab/quern/widgets"
	"github.com/quernlab/quern/widgets/comm"
)

// maxStack is half of Go's own limit. The session stops recursions of cells earlier; this
// limit is for recursions in compiled code.
const maxStack = 512 << 20

// runWorker returns the process with the interpreter session. It is started by the kernel and
// fails if a person starts it.
func runWorker(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	batch := flags.Bool("batch", false, "")
	if err := parse(flags, "quern worker runs cells for quern kernel, which starts it.\n", args, std); err != nil {
		return err
	}
	process, err := child.Open()
	if errors.Is(err, child.ErrNoKernel) {
		return &usageError{"worker: only quern kernel starts a worker", "quern install, then choose the kernel in Jupyter"}
	} else if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if *batch {
		// Slurm and others send SIGTERM to all processes of a job. quern run then interrupts the cell, which may
		// save a training. Commands that cells start get the signal.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	}
	debug.SetMaxStack(maxStack)
	shareCores(localRanks(os.LookupEnv))
	limit, err := parseMemory(os.Getenv(memoryVariable))
	if err == nil {
		limit, err = limit.share(localRanks(os.LookupEnv))
	}
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if limit.bytes > 0 {
		if err := boundMemory(limit.bytes); err != nil {
			slog.Warn("one statement may go far beyond the limit of memory", "error", err)
		}
		stderr := os.Stderr // os.Stderr may be changed by a cell
		end := func(last func()) {
			last()
			os.Exit(2)
		}
		go limitMemory(ctx, limit.bytes, func(used int64) {
			end(func() { memoryExceeded(stderr, limit, used) })
		})
		go watchMachine(ctx, machineMemory, func(m machine) {
			end(func() { machineExhausted(stderr, m) })
		})
	}
	output := func(cell int) (stdout, stderr io.Writer) { return process.Stdout(cell), process.Stderr(cell) }
	// Package log, and slog's default logger with it, belong to the cells. A program of
	// cells has no arguments.
	log.SetOutput(process.Stderr(0))
	os.Args = os.Args[:1]
	// The start produces little garbage, and collecting it would take a core from the
	// kernel process, which is answering its first client.
	percent := debug.SetGCPercent(-1)
	w, err := newWorker(process, output)
	debug.SetGCPercent(percent)
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	collector.Run()
	return process.Serve(ctx, w)
}

// worker answers the kernel's requests with an interpreter session. It only translates;
// package interp does the work.
type worker struct {
	link.Handlers
	session   *interp.Session
	figures   *widgets.Figures
	callbacks *interp.Callbacks // callbacks of widgets
	host      link.Host
	rank      int // this worker's rank; only the displays of rank 0 are shown
	ranks     int
	output    streams
	cell      atomic.Int64 // the running cell, or the last one
	clickable atomic.Bool  // a person can use the widgets of the running cell
	started   sync.Once    // for work after the first cell
}

var _ link.Worker = (*worker)(nil)

// streams returns the output streams of a cell; for cell 0, those of the running one.
type streams func(cell int) (stdout, stderr io.Writer)

func newWorker(process *child.Process, output streams) (*worker, error) {
	host := process.Host()
	w := &worker{Handlers: link.Handlers{}, host: host, rank: process.Rank(), ranks: process.Ranks(), output: output}
	link.On(w.Handlers, w.complete)
	link.On(w.Handlers, w.inspect)
	link.On(w.Handlers, w.check)
	link.On(w.Handlers, w.evaluate)
	link.On(w.Handlers, w.comm)
	link.On(w.Handlers, w.panicked)
	session, err := interp.New(
		interp.Stdin(&lineReader{notebook: host, rank: w.rank}),
		interp.Output(output),
		interp.Build(buildProgram),
		interp.Ranks(&ranks{host: host, rank: w.rank, ranks: w.ranks, cell: func() int { return int(w.cell.Load()) }}),
	)
	if err != nil {
		return nil, err
	}
	w.session, w.callbacks = session, interp.NewCallbacks(session)
	comm.SetHost(commHost{host, w.rank, w.callbacks, w.caller, &w.clickable})
	w.figures = widgets.NewFigures(display.SinkFunc(w.display))
	display.SetSink(w.figures)
	return w, nil
}

// display sends a display of a cell. If it cannot be encoded or is too large, the cell
// gets a message. If the connection is gone, so is the kernel process, and this process
// ends too.
func (w *worker) display(m display.Message) {
	cell := w.caller()
	if w.rank > 0 { // the kernel process only counts the displays of other ranks
		m.Data, m.Metadata = nil, nil
	}
	err := w.host.Display(link.Display{
		Cell: cell, Kind: string(m.Kind), ID: m.ID, Data: m.Data, Metadata: m.Metadata, Wait: m.Wait,
	})
	if err != nil && !errors.Is(err, link.ErrClosed) {
		_, stderr := w.output(cell)
		fmt.Fprintf(stderr, "display: cannot show this: %v\n", err)
	}
}

// caller returns the cell of the calling goroutine, or the running cell if it is unknown.
func (w *worker) caller() int {
	if cell := w.session.Cell(); cell != 0 {
		return cell
	}
	return int(w.cell.Load())
}

func (w *worker) Execute(ctx context.Context, request link.Execute) (link.Result, error) {
	w.cell.Store(int64(request.Cell))
	w.clickable.Store(request.Interactive)
	var options []interp.CellOption
	if request.ID != "" {
		options = append(options, interp.ID(request.ID))
	}
	options = append(options, interp.Deleted(request.Deleted...))
	if request.Silent {
		options = append(options, interp.Silent())
	}
	if request.Interactive {
		options = append(options, interp.Attended())
	}
	result, err := w.session.Execute(ctx, request.Cell, request.Code, options...)
	if err != nil {
		if w.ranks <= 1 && ctx.Err() == nil { // other ranks may not take part, and an interruption is not to wait
			w.runRecorded(request.Cell)
		}
		w.endWithGPU(request.Cell, err)
	}
	// Release the memory that the start needed, without delaying the client.
	w.started.Do(func() { go func() { _ = releaseProgram() }() })
	if w.rank > 0 {
		result = interp.Result{}
	}
	result.Data = w.figures.Result(result.Data, result.Figures)
	return w.translate(result, err)
}

// runRecorded runs the ops of tensors that a failed cell has recorded and not read, so that their own failures, such as an
// index that is out of range, appear under this cell and not under the next one that reads a tensor.
func (w *worker) runRecorded(cell int) {
	defer func() {
		if p := recover(); p != nil {
			_, stderr := w.output(cell)
			fmt.Fprintf(stderr, "what the cell computed before has failed too: %v\n", p)
		}
	}()
	tensor.Flush()
}

// endWithGPU ends the process if a GPU has failed permanently, for example after a kernel
// accessed invalid memory. This process cannot use the GPU any more, but a new one can.
// The kernel shows the line as the reason.
func (w *worker) endWithGPU(cell int, cause error) {
	lost := accel.DeviceLost()
	if lost == nil {
		return
	}
	_, stderr := w.output(cell)
	why := lost.Error()
	var cellError *interp.Error
	if errors.As(cause, &cellError) {
		fmt.Fprintln(stderr, strings.Join(cellError.Traceback, "\n"))
		if first, _, _ := strings.Cut(cellError.Value, "\n"); strings.Contains(first, "CUDA_ERROR") { // it names the op
			why = first
		}
	}
	fmt.Fprintf(stderr, "\nfatal error: the GPU has failed: %s; files of accel.Resume are kept\n", why)
	os.Exit(2)
}

// files returns the paths of files in a traceback.
func (w *worker) files(traceback []string) map[string]string {
	found := map[string]string{}
	for _, line := range traceback {
		if m := link.Position.FindStringSubmatch(line); m != nil {
			if path, ok := w.session.SourceFile(m[1]); ok {
				found[m[1]] = path
			}
		}
	}
	return found
}

// translate converts the outcome of a cell to the link's types.
func (w *worker) translate(result interp.Result, err error) (link.Result, error) {
	var cellError *interp.Error
	switch {
	case errors.As(err, &cellError):
		return link.Result{Goroutines: result.Goroutines, Error: &link.CellError{
			Name: cellError.Name, Value: cellError.Value, Traceback: cellError.Traceback, Files: w.files(cellError.Traceback), Stuck: cellError.Stuck, Earlier: cellError.Earlier,
		}}, nil
	case err != nil:
		return link.Result{}, err
	}
	return link.Result{Data: result.Data, Metadata: result.Metadata, Goroutines: result.Goroutines, Replacement: result.Replacement}, nil
}

func (w *worker) complete(_ context.Context, request link.Complete) (link.Completion, error) {
	start, end, items := w.session.Complete(request.Code, request.Offset)
	completion := link.Completion{Start: start, End: end, Matches: make([]link.Match, len(items))}
	for i, item := range items {
		completion.Matches[i] = link.Match{Text: item.Text, Kind: item.Kind, Type: item.Type}
	}
	return completion, nil
}

func (w *worker) inspect(_ context.Context, request link.Inspect) (link.Inspection, error) {
	found := link.Inspection{Data: w.session.Inspect(request.Code, request.Offset, request.Detail)}
	if len(found.Data) == 0 {
		found.Similar = w.session.Similar(request.Code)
	}
	return found, nil
}

func (w *worker) check(_ context.Context, request link.Check) (link.Completeness, error) {
	status, indent := w.session.IsComplete(request.Code)
	return link.Completeness{Status: status, Indent: indent}, nil
}

func (w *worker) evaluate(ctx context.Context, request link.Evaluate) (link.Evaluations, error) {
	values := make(map[string]link.Result, len(request.Expressions))
	for name, expression := range request.Expressions {
		value, err := w.translate(w.session.Evaluate(ctx, expression))
		if err != nil {
			return link.Evaluations{}, err
		}
		values[name] = value
	}
	return link.Evaluations{Values: values}, nil
}

// panicked returns the panic of a goroutine that has not failed a cell.
func (w *worker) panicked(ctx context.Context, request link.Panic) (link.PanicReply, error) {
	result, err := w.translate(interp.Result{}, w.session.Panic(ctx, request.Next))
	return link.PanicReply{Error: result.Error}, err
}

func (w *worker) Interrupt(context.Context) error {
	w.session.Interrupt()
	return nil
}

func (w *worker) Shutdown(context.Context) error {
	return w.session.Close()
}
