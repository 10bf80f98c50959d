package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// serveCommand is the command that makes this program a benchmark process for Quern, with
// GOMAXPROCS threads.
const serveCommand = "serve"

// peakBench is not a case: every run measures the peak of its machine.
const peakBench = "peak"

// serve answers requests until the input ends.
func serve(in io.Reader, out io.Writer) {
	s := &server{ready: map[string]workload{}}
	lines := bufio.NewScanner(in)
	answers := json.NewEncoder(out)
	for lines.Scan() {
		var q request
		var a reply
		err := json.Unmarshal(lines.Bytes(), &q)
		if err == nil {
			a, err = s.answer(q)
		}
		if err != nil {
			a = reply{Error: err.Error()}
		}
		if answers.Encode(a) != nil {
			return // the parent process has ended
		}
	}
}

// server holds the prepared benchmarks by name.
type server struct{ ready map[string]workload }

func (s *server) answer(q request) (reply, error) {
	switch q.Do {
	case "versions":
		return reply{Versions: map[string]string{"go": runtime.Version(), "kernels": cpu.Implementations()[0]}}, nil
	case "prepare":
		return s.prepare(q)
	case "drop":
		clear(s.ready)
		runtime.GC()
		return reply{}, nil
	case "run":
		work := s.ready[q.Bench]
		if work == nil {
			return reply{}, fmt.Errorf("%s is not prepared", q.Bench)
		}
		start := time.Now()
		for range q.Steps {
			if err := work.step(); err != nil {
				return reply{}, err
			}
		}
		return reply{Seconds: time.Since(start).Seconds()}, nil
	}
	return reply{}, fmt.Errorf("unknown request %q", q.Do)
}

func (s *server) prepare(q request) (reply, error) {
	if q.Bench == peakBench {
		s.ready[q.Bench] = peak{}
		return reply{Flops: cpu.Peak(runtime.GOMAXPROCS(0))}, nil
	}
	c, ok := caseNamed(q.Bench)
	if !ok {
		return reply{}, fmt.Errorf("there is no benchmark %q", q.Bench)
	}
	g, err := readGroups(q.Case)
	if err != nil {
		return reply{}, err
	}
	w, err := c.start(g)
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

// peak is a step of multiplications and additions only.
type peak struct{}

func (peak) step() error {
	cpu.Peak(runtime.GOMAXPROCS(0))
	return nil
}

func (peak) value() float64 { return 1 }
