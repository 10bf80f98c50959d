package batch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/batch"
	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/worker/child"
)

// TestMain makes the test binary serve as the worker process too.
func TestMain(m *testing.M) {
	if os.Getenv(child.LinkVariable) == "" {
		os.Exit(m.Run())
	}
	process, err := child.Open()
	if err == nil {
		err = process.Serve(context.Background(), newScripted())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// scripted runs cells of one word: "ok", "fail", "late", after which a goroutine panics, or "exit",
// after which the process ends.
type scripted struct {
	link.Handlers
	panicked *link.CellError
	exits    bool // at the next request
}

func newScripted() *scripted {
	s := &scripted{Handlers: link.Handlers{}}
	link.On(s.Handlers, func(context.Context, link.Panic) (link.PanicReply, error) {
		if s.exits {
			os.Exit(3)
		}
		return link.PanicReply{Error: s.take()}, nil
	})
	return s
}

func (s *scripted) take() *link.CellError {
	e := s.panicked
	s.panicked = nil
	return e
}

func failure(value string, earlier int) *link.CellError {
	return &link.CellError{Name: "panic", Value: value, Traceback: []string{"panic: " + value}, Earlier: earlier}
}

func (s *scripted) Execute(_ context.Context, r link.Execute) (link.Result, error) {
	if e := s.take(); e != nil {
		return link.Result{Error: e}, nil
	}
	switch r.Code {
	case "fail":
		return link.Result{Error: failure("own", 0)}, nil
	case "exit":
		s.exits = true
	case "late":
		s.panicked = failure("late", r.Cell)
	}
	return link.Result{}, nil
}

func (s *scripted) Interrupt(context.Context) error { return nil }
func (s *scripted) Shutdown(context.Context) error  { return nil }

// TestPanicOfEarlierCell runs notebooks in which a goroutine panics after its cell has ended: the run fails, whatever the tags
// of the next cell.
func TestPanicOfEarlierCell(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ cells, want, failed string }{
		{"ok ok", "<nil>", "[]"},
		{"ok fail", "cell 2 failed: panic: own", "[2]"},
		{"ok fail/raises-exception ok", "<nil>", "[]"},
		{"late ok", "cell 2 failed: panic: late", "[2]"},
		{"late ok/raises-exception ok", "cell 2 failed: panic: late", "[2]"},
		{"late ok/skip-execution", "cell 1 failed: panic: late", "[1]"},
		{"ok ok/skip-execution late", "cell 3 failed: panic: late", "[3]"},
		{"late/raises-exception", "cell 1 failed: panic: late", "[1]"},
	} {
		t.Run(row.cells, func(t *testing.T) {
			t.Parallel()
			n := &notebook.Notebook{}
			for _, cell := range strings.Fields(row.cells) {
				source, tag, _ := strings.Cut(cell, "/")
				n.Cells = append(n.Cells, &notebook.Cell{Type: "code", Source: source, Metadata: map[string]any{"tags": []any{tag}}})
			}
			failed := []int{}
			err := batch.Run(t.Context(), n, batch.Config{
				WorkerCommand: os.Args[:1], Stdout: io.Discard, Stderr: io.Discard,
				Ended: func(cell int, _ time.Duration, err error) {
					if err != nil {
						failed = append(failed, cell)
					}
				},
			})
			if fmt.Sprint(err) != row.want || fmt.Sprint(failed) != row.failed {
				t.Errorf("got %v, cells %v, want %s, cells %s", err, failed, row.want, row.failed)
			}
			var e *batch.CellError
			if errors.As(err, &e) {
				if !slices.ContainsFunc(n.Cells[e.Cell-1].Outputs, func(o notebook.Output) bool { return o["output_type"] == "error" }) {
					t.Errorf("the outputs are %v", n.Cells[e.Cell-1].Outputs)
				}
			}
		})
	}
}

// TestWorkerEndsAfterLastCell checks that a worker that ends between cells fails the run.
func TestWorkerEndsAfterLastCell(t *testing.T) {
	t.Parallel()
	n := &notebook.Notebook{Cells: []*notebook.Cell{{Type: "code", Source: "ok"}, {Type: "code", Source: "exit"}}}
	err := batch.Run(t.Context(), n, batch.Config{WorkerCommand: os.Args[:1], Stdout: io.Discard, Stderr: io.Discard})
	if err == nil {
		t.Error("the run succeeded")
	}
}
