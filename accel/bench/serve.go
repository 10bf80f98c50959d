package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	_ "github.com/quernlab/quern/accel/simulated" // for -device simulated
	"github.com/quernlab/quern/accel/tensor"
)

// serveCommand is the command that makes this program a benchmark process for Quern, with
// GOMAXPROCS threads: serve DEVICE [quick].
const serveCommand = "serve"

// peakBench is not a case: every run measures the peak of its CPU.
const peakBench = "peak"

// serve answers requests until the input ends.
func serve(arguments []string, in io.Reader, out io.Writer) {
	s := &server{options: options{device: arguments[0], quick: len(arguments) > 1}, ready: map[string]workload{}}
	opened := tensors.SetDevice(s.device)
	lines := bufio.NewScanner(in)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var q request
		var a reply
		err := opened
		if err == nil {
			err = json.Unmarshal(lines.Bytes(), &q)
		}
		if err == nil {
			a, err = s.answer(q)
		}
		if missing, unavailable := (*missingError)(nil), (*cuda.UnavailableVariantError)(nil); errors.As(err, &missing) {
			a = reply{Missing: missing.reason}
		} else if errors.As(err, &unavailable) {
			a = reply{Missing: unavailable.Error()}
		} else if err != nil {
			a = reply{Error: err.Error()}
		}
		if answers.Encode(a) != nil {
			return // the parent process has ended
		}
	}
}

// server holds the prepared benchmarks by name.
type server struct {
	options
	ready map[string]workload
	ballast
}

func (s *server) answer(q request) (a reply, err error) {
	defer nn.Catch(&err)
	switch q.Do {
	case "versions":
		return s.versions()
	case "prepare":
		return s.prepare(q)
	case "drop":
		clear(s.ready)
		runtime.GC()
		return reply{}, nil
	case "run", "count":
		work, ok := s.ready[q.Bench]
		if !ok {
			return reply{}, fmt.Errorf("%s is not prepared", q.Bench)
		}
		if q.Empty > 0 {
			return s.runCold(work, q)
		}
		tensors.ResetStats()
		start := time.Now()
		for range q.Steps {
			if err := work.step(); err != nil {
				return reply{}, err
			}
		}
		if q.Do == "count" {
			return reply{Counts: countsOf(tensors.Stats(), float64(q.Steps))}, nil
		}
		tensor.Synchronize()
		return reply{Seconds: time.Since(start).Seconds()}, nil
	}
	return reply{}, fmt.Errorf("unknown request %q", q.Do)
}

// versions returns the versions of what computes, and the GPU if there is one.
func (s *server) versions() (reply, error) {
	a := reply{Versions: map[string]string{"go": runtime.Version()}}
	if s.device == "cpu" {
		a.Versions["kernels"] = cpu.Implementations()[0]
		return a, nil
	}
	a.GPU = s.device
	if s.simulated() {
		return a, nil
	}
	for _, l := range tensors.Libraries() {
		a.Versions[l.Name] = l.Version
	}
	gpus, err := tensors.GPUs()
	if i := slices.IndexFunc(gpus, func(g tensors.GPU) bool { return g.Device == tensors.Device() }); i >= 0 {
		a.GPU, a.PCI = gpus[i].Name, gpus[i].PCI
	}
	return a, err
}

func countsOf(s ir.Stats, steps float64) *benchfile.Counts {
	per := func(n int) float64 { return float64(n) / steps }
	d := s.Device
	return &benchfile.Counts{
		Flushes: per(s.Flushes), Launches: per(d.Launches), Kernels: per(d.Kernels), Copies: per(d.Copies), ToDevice: per(d.ToDevice),
		ToHost: per(d.ToHost), Allocs: per(d.Allocs), NewPlans: per(s.PlansMade), Waits: per(d.Waits),
	}
}

func (s *server) prepare(q request) (reply, error) {
	if q.Bench == peakBench {
		peak := func() float64 { return cpu.Peak(runtime.GOMAXPROCS(0)) } // multiplications and additions only
		s.ready[q.Bench] = workload{step: func() error {
			peak()
			return nil
		}, value: constant}
		return reply{Flops: peak()}, nil
	}
	c, err := s.caseNamed(q.Bench)
	if err != nil {
		return reply{}, err
	}
	w, err := c.startWith(q.Case)
	if err != nil {
		return reply{}, err
	}
	a := reply{}
	for range checkedSteps {
		if err := w.step(); err != nil {
			return reply{}, err
		}
		a.Losses = append(a.Losses, w.value())
	}
	s.ready[q.Bench] = w
	return a, nil
}

// startWith prepares a case with the inputs that were written to files whose names begin with path.
func (c benchCase) startWith(path string) (workload, error) {
	if c.startFiles != nil {
		return c.startFiles(path)
	}
	g, err := readGroups(path)
	if err != nil {
		return workload{}, err
	}
	return c.start(g)
}
