package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/internal/harness"
)

// A report describes how the cells of a child process ended. A child that crashed, or whose
// program called os.Exit, writes an unfinished one.
type report struct {
	Finished bool
	Kind     string // name of the interp.Error; "" if main returned
	Message  string
	Get      float64 // seconds of the first cell
	Seconds  float64 // of the program, with the import
	MiB      float64 // that the process has from the operating system
}

// childArgument is the first argument of a child process.
const childArgument = "run-program"

// child runs the program that the arguments name and exits. In a process that is not a child it
// returns. The exit status for a failed cell is 2, as for a panic.
func child() {
	if len(os.Args) != 5 || os.Args[1] != childArgument {
		return
	}
	r := runProgram(os.Args[2], os.Args[3])
	if err := harness.WriteReport(os.Args[4], r); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
	if r.Kind != "" {
		os.Exit(2)
	}
	os.Exit(0)
}

// runProgram runs two files as cells of a new session.
func runProgram(commands, source string) report {
	r := report{Finished: true}
	fail := func(err error) report {
		r.Kind, r.Message = "error", err.Error()
		var failure *interp.Error
		if errors.As(err, &failure) {
			r.Kind, r.Message = failure.Name, failure.Value
		}
		return r
	}
	var cells [2]string
	for i, name := range []string{commands, source} {
		text, err := os.ReadFile(name)
		if err != nil {
			return fail(err)
		}
		cells[i] = string(text)
	}
	display.SetSink(display.SinkFunc(func(display.Message) {})) // no progress bars
	s, err := interp.New()
	if err != nil {
		return fail(err)
	}
	start := time.Now()
	if _, err = s.Execute(context.Background(), 1, cells[0]); err != nil {
		return fail(err)
	}
	r.Get = time.Since(start).Seconds()
	fmt.Print(separator)
	start = time.Now()
	_, err = s.Execute(context.Background(), 2, cells[1])
	r.Seconds = time.Since(start).Seconds()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.MiB = float64(memory.Sys) / (1 << 20)
	if err != nil {
		return fail(err)
	}
	return r
}

// separator separates the outputs of the two cells; the first one prints the modules that it gets.
const separator = "\x00"
