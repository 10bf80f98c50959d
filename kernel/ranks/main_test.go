package ranks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker/child"
)

// TestMain makes the test binary serve as the worker process too.
func TestMain(m *testing.M) {
	if os.Getenv(child.LinkVariable) == "" {
		os.Exit(m.Run())
	}
	process, err := child.Open()
	if err == nil {
		err = process.Serve(context.Background(), newScripted(process))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// scripted runs cells whose lines consist of a verb and an argument. They are for all
// ranks, or for the ranks before a colon: "1: out text".
type scripted struct {
	link.Handlers
	process  *child.Process
	panicked *link.CellError // a goroutine has panicked
}

func newScripted(process *child.Process) *scripted {
	handlers := link.Handlers{}
	link.On(handlers, func(context.Context, link.Complete) (link.Completion, error) {
		return link.Completion{Matches: []link.Match{{Text: strconv.Itoa(process.Rank())}}}, nil
	})
	s := &scripted{handlers, process, nil}
	link.On(handlers, func(_ context.Context, r link.Panic) (link.PanicReply, error) {
		reply := link.PanicReply{Error: s.panicked}
		if s.panicked != nil && r.Next {
			reply.Error.Traceback = append(reply.Error.Traceback, "not run")
		}
		s.panicked = nil
		return reply, nil
	})
	return s
}

func (s *scripted) Execute(ctx context.Context, r link.Execute) (link.Result, error) {
	for line := range strings.Lines(r.Code) {
		line = strings.TrimSpace(line)
		if ranks, rest, ok := strings.Cut(line, ": "); ok {
			if !slices.Contains(strings.Split(ranks, ","), strconv.Itoa(s.process.Rank())) {
				continue
			}
			line = rest
		}
		verb, argument, _ := strings.Cut(line, " ")
		if name, value := s.run(ctx, r.Cell, verb, argument); name != "" {
			return link.Result{Error: &link.CellError{Name: name, Value: value, Traceback: []string{name + ": " + value}}}, nil
		}
	}
	return link.Result{Data: map[string]any{"text/plain": fmt.Sprintf("rank %d of %d", s.process.Rank(), s.process.Ranks())}}, nil
}

func (s *scripted) run(ctx context.Context, cell int, verb, argument string) (name, value string) {
	n, _ := strconv.Atoi(argument)
	switch verb {
	case "out":
		fmt.Println(argument)
	case "env":
		value, set := os.LookupEnv(argument)
		fmt.Println(argument, value, set)
	case "pid":
		fmt.Println("pid", os.Getpid())
	case "show":
		if err := s.process.Host().Display(link.Display{Cell: cell, Kind: "display", Data: map[string]any{"text/plain": argument}}); err != nil {
			return "failed", err.Error()
		}
	case "ask":
		if _, err := s.process.Host().Input(ctx, link.InputRequest{}); err != nil {
			return "failed", err.Error()
		}
	case "restart":
		if _, err := s.process.Host().Ranks(ctx, link.RanksRequest{Restart: true, Program: argument}); err != nil {
			return "refused", err.Error()
		}
	case "ranks":
		reply, err := s.process.Host().Ranks(ctx, link.RanksRequest{Number: n})
		if err != nil {
			return "failed", err.Error()
		}
		if reply.Refused != "" {
			return "refused", reply.Refused
		}
		if reply.Text != "" {
			fmt.Println(reply.Text)
		}
	case "once": // on rank 0, the step fails with the argument
		request := link.OnceRequest{Cell: cell, Step: 3}
		if s.process.Rank() == 0 {
			request.Output, request.Error = "output", argument
		}
		reply, err := s.process.Host().Once(ctx, request)
		if err != nil {
			return "failed", err.Error()
		}
		fmt.Printf("once %q %q\n", request.Output+reply.Output, request.Error+reply.Error)
	case "late": // a goroutine panics after the cell
		s.panicked = &link.CellError{Name: "panic", Value: argument, Traceback: []string{"panic: " + argument}, Earlier: cell}
	case "fail":
		return "failed", argument
	case "wait":
		<-ctx.Done()
		return "interrupted", "in " + strconv.Itoa(s.process.Rank())
	case "exit":
		os.Exit(n)
	}
	return "", ""
}

func (s *scripted) Interrupt(context.Context) error { return nil }
func (s *scripted) Shutdown(context.Context) error  { return nil }
