package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// loaded is a kernel as the driver has compiled it; the test TestLoad of the kernels prints it.
type loaded struct {
	Module       string  `json:"module"`
	Kernel       string  `json:"kernel"`
	Milliseconds float64 `json:"milliseconds,omitempty"` // to load the module, with its first kernel
	Registers    int     `json:"registers"`
	Local        int     `json:"local,omitempty"`   // bytes of spills and arrays
	Shared       int     `json:"shared,omitempty"`  // static bytes
	Threads      int     `json:"threads,omitempty"` // of a block at most
	Blocks       int     `json:"blocks"`            // on an SM, with that many threads
	Error        string  `json:"error,omitempty"`
}

// loadedPrefix begins the lines of TestLoad.
const loadedPrefix = "loaded: "

// firstUse measures the time to the first result: opening the device and loading the kernels of
// one op.
func firstUse(o options) (seconds float64, err error) {
	defer nn.Catch(&err)
	began := time.Now()
	if err := tensor.SetDevice(o.device); err != nil {
		return 0, err
	}
	tensor.Ones(4).AddScalar(1).Data()
	return time.Since(began).Seconds(), nil
}

// loadKernels measures the first use, and loads all kernels.
func loadKernels(ctx context.Context, o options, r *report, out io.Writer) error {
	var firstErr error
	if r.FirstUse, firstErr = firstUse(o); firstErr == nil {
		fmt.Fprintf(out, "first use  %.2f s\n", r.FirstUse)
	}
	program, err := o.program(kernelProgram)
	if err != nil {
		return errors.Join(firstErr, err)
	}
	pattern := "^TestLoad$"
	command, said := external(ctx, program, "-test.v", "-test.count", "1", "-test.run", pattern)
	if o.quick {
		command.Args = append(command.Args, "-test.short")
	}
	command.Env = o.kernelEnvironment()
	text, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		_, line, ok := strings.Cut(lines.Text(), loadedPrefix)
		var l loaded
		if !ok {
			continue
		}
		if e := json.Unmarshal([]byte(line), &l); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", line, e))
			continue
		}
		r.Loaded = append(r.Loaded, l)
		if l.Error != "" {
			err = errors.Join(err, fmt.Errorf("%s %s: %s", l.Module, l.Kernel, l.Error))
		}
	}
	if len(r.Loaded) == 0 && err == nil {
		err = fmt.Errorf("no kernels were loaded: %s", said)
	}
	fmt.Fprintln(out, loadedSummary(r.Loaded))
	return errors.Join(firstErr, err)
}

// loadedSummary describes the kernels in a line.
func loadedSummary(all []loaded) string {
	modules, seconds, spills, slowest := map[string]bool{}, 0.0, 0, loaded{}
	for _, l := range all {
		modules[l.Module] = true
		seconds += l.Milliseconds / 1e3
		if l.Local > 0 {
			spills++
		}
		if l.Milliseconds > slowest.Milliseconds {
			slowest = l
		}
	}
	return fmt.Sprintf("%d kernels of %d modules in %.1f s, the slowest %s with %.0f ms; %d use local memory", len(all), len(modules), seconds, slowest.Module, slowest.Milliseconds, spills)
}
