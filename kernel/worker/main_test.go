//go:build !js

package worker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker/child"
)

// TestMain makes the test binary serve as the worker process too.
func TestMain(m *testing.M) {
	if os.Getenv(child.LinkVariable) == "" {
		os.Exit(m.Run())
	}
	process, err := child.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := process.Serve(context.Background(), newScripted(process)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// scripted runs cells whose lines consist of a verb and an argument.
type scripted struct {
	link.Handlers
	process *child.Process
}

func newScripted(process *child.Process) *scripted {
	handlers := link.Handlers{}
	link.On(handlers, func(_ context.Context, r link.Complete) (link.Completion, error) {
		return link.Completion{Matches: []link.Match{{Text: r.Code}}}, nil
	})
	link.On(handlers, func(context.Context, link.Check) (link.Completeness, error) {
		return link.Completeness{Status: "complete"}, nil
	})
	link.On(handlers, func(_ context.Context, r link.Evaluate) (link.Evaluations, error) {
		for _, expression := range r.Expressions {
			fmt.Println(expression)
		}
		return link.Evaluations{}, nil
	})
	return &scripted{handlers, process}
}

func (s *scripted) Execute(ctx context.Context, r link.Execute) (link.Result, error) {
	for line := range strings.Lines(r.Code) {
		verb, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
		if failure := s.run(ctx, r.Cell, verb, argument); failure != "" {
			return link.Result{Error: &link.CellError{Name: "failed", Value: failure}}, nil
		}
	}
	return link.Result{Data: map[string]any{"text/plain": "done"}}, nil
}

func (s *scripted) run(ctx context.Context, cell int, verb, argument string) (failure string) {
	n, _ := strconv.Atoi(argument)
	switch verb {
	case "out":
		fmt.Println(argument)
	case "err":
		fmt.Fprintln(os.Stderr, argument)
	case "lines":
		for i := range n {
			fmt.Println("line", i)
		}
	case "mixed": // through the writers that preserve the order
		for i := range n {
			fmt.Fprintln(s.process.Stdout(cell), "out", i)
			fmt.Fprintln(s.process.Stderr(cell), "err", i)
		}
	case "of": // output of an earlier cell
		fmt.Println("before")
		fmt.Fprintln(s.process.Stdout(n), "of", n)
		fmt.Println("after")
	case "show":
		if err := s.process.Host().Display(link.Display{Cell: cell, Kind: "display", Data: map[string]any{"text/plain": argument}}); err != nil {
			return err.Error()
		}
	case "show-nothing":
		if err := s.process.Host().Display(link.Display{Cell: cell, Kind: "display", Data: map[string]any{"x": func() {}}}); err == nil {
			return "a function was displayed"
		}
	case "ask":
		reply, err := s.process.Host().Input(ctx, link.InputRequest{Prompt: argument})
		if err != nil {
			return err.Error()
		}
		fmt.Println("answer", reply.Line)
	case "child": // a program that outlives the cell and keeps its output open
		cmd := exec.Command("sleep", "600")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return err.Error()
		}
		fmt.Println(cmd.Process.Pid)
	case "close-output":
		os.Stdout.Close()
		os.Stderr.Close()
	case "close-all":
		closeAll()
	case "environment": // of programs that a cell starts
		for _, variable := range os.Environ() {
			fmt.Println(variable)
		}
	case "pid":
		fmt.Println(os.Getpid())
	case "writer": // a program that outlives the cell and writes when the file is there
		cmd := exec.Command("sh", "-c", "until [ -e "+argument+" ]; do sleep 0.01; done; echo of the writer")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return err.Error()
		}
	case "print": // until it is interrupted, and then more
		for i := 0; ctx.Err() == nil; i++ {
			fmt.Println("of cell", cell)
			time.Sleep(time.Millisecond)
		}
		for range 1000 {
			fmt.Println("of cell", cell)
		}
		return "interrupted"
	case "long": // output of an earlier cell, longer than an atomic write to a pipe
		fmt.Fprint(s.process.Stdout(n), strings.Repeat("x", 10_000))
	case "wait":
		<-ctx.Done()
		return "interrupted"
	case "stuck":
		select {}
	case "exit":
		os.Exit(n)
	case "kill":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		select {}
	case "panic":
		go panic(argument)
		select {}
	case "fatal": // a concurrent map write, as the runtime reports it
		m := map[int]int{}
		for range 8 {
			go func() {
				for {
					m[0]++
				}
			}()
		}
		select {}
	case "overflow":
		debug.SetMaxStack(32 << 20) // less than a gigabyte, to be quick
		return strconv.Itoa(overflow(0))
	case "last-words": // looks like a crash but is not
		fmt.Fprintln(os.Stderr, "panic: not really")
	case "late": // panics when the file is there
		go func() {
			for {
				if _, err := os.Stat(argument); err == nil {
					panic("boom")
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
	return ""
}

func overflow(n int) int {
	var frame [1 << 16]byte
	frame[n%len(frame)] = 1
	return overflow(n+1) + int(frame[0]) // endless on purpose
}

func (s *scripted) Interrupt(context.Context) error { return nil }
func (s *scripted) Shutdown(context.Context) error  { return nil }
