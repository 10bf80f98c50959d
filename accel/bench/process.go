package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
)

// scripts are the scripts of the other frameworks.
//
//go:embed peer/*.py
var scripts embed.FS

// process is a benchmark process. It executes requests and sleeps in between.
type process struct {
	options
	framework string    // quern, torch or jax
	threads   int       // 0 for a GPU
	folder    string    // of the scripts
	variables []string  // of its environment, besides those of this process
	command   *exec.Cmd // nil if it is not running
	requests  io.WriteCloser
	answers   *bufio.Reader
}

// unpack writes the scripts to a folder.
func unpack(folder string) error {
	entries, err := scripts.ReadDir("peer")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := scripts.ReadFile("peer/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, e.Name()), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// start starts the process, which ends when ctx is done or when it is closed.
func (s *process) start(ctx context.Context) error {
	count := strconv.Itoa(s.threads)
	var command *exec.Cmd
	var threads []string
	if s.framework == "quern" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		command = exec.CommandContext(ctx, self, serveCommand, s.device)
		if s.quick {
			command.Args = append(command.Args, "quick")
		}
		threads = []string{"GOMAXPROCS=" + count}
	} else {
		command = exec.CommandContext(ctx, s.python, filepath.Join(s.folder, "server.py"), s.framework, count, s.device)
		threads = []string{"OMP_NUM_THREADS=" + count, "MKL_NUM_THREADS=" + count, "RAYON_NUM_THREADS=" + count}
	}
	command.Env = append(os.Environ(), s.variables...)
	if s.threads > 0 {
		command.Env = append(command.Env, threads...)
	}
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return &missingError{s.framework, err.Error()}
	}
	s.command, s.requests, s.answers = command, in, bufio.NewReader(out)
	return nil
}

// missingError reports that a framework, or what a case needs, is missing.
type missingError struct{ framework, reason string }

func (e *missingError) Error() string { return e.framework + " is not measured: " + e.reason }

// ask sends a request and waits for the reply, at most for the time limit. It starts the
// process if it is not running.
func (s *process) ask(ctx context.Context, q request) (reply, error) {
	if s.command == nil {
		if err := s.start(ctx); err != nil {
			return reply{}, err
		}
	}
	running := s.command.Process
	watch := time.AfterFunc(s.limit, func() { _ = running.Kill() }) // it may have ended
	// If the process has ended, its last line says why.
	encodeErr := json.NewEncoder(s.requests).Encode(q)
	line, err := s.answers.ReadBytes('\n')
	inTime := watch.Stop()
	if err != nil {
		s.close()
		if !inTime {
			err = fmt.Errorf("no reply in %v", s.limit)
		}
		return reply{}, fmt.Errorf("%v ended during the request %s %s: %w", s, q.Do, q.Bench, errors.Join(encodeErr, err))
	}
	var a reply
	if err := json.Unmarshal(line, &a); err != nil {
		return reply{}, fmt.Errorf("%v answered %q: %w", s, strings.TrimSpace(string(line)), err)
	}
	if a.Missing != "" {
		return reply{}, &missingError{s.framework, a.Missing}
	}
	if a.Error != "" {
		return reply{}, fmt.Errorf("%v, %s: %s", s, strings.TrimSpace(q.Do+" "+q.Bench+" "+q.Setting), a.Error)
	}
	return a, nil
}

// close ends the process. A later request starts it again.
func (s *process) close() {
	if s.command == nil {
		return
	}
	_ = s.requests.Close() // the process ends at the end of its input
	running := s.command.Process
	watch := time.AfterFunc(5*time.Second, func() { _ = running.Kill() }) // it may have ended
	_ = s.command.Wait()                                                  // its replies say what failed
	watch.Stop()
	s.command = nil
}

func (s *process) String() string {
	if s.threads == 0 {
		return s.framework
	}
	return fmt.Sprintf("%s with %d threads", s.framework, s.threads)
}

// processes are all processes of a run.
type processes []*process

// startProcesses starts the processes that the cases need, and adds to r the versions of what they
// measure. A framework that the Python cannot import is reported and left out. It returns the PCI
// bus ID of the GPU, if there is one.
func startProcesses(ctx context.Context, o options, folder string, cases []benchCase, r *result) (processes, string, error) {
	frameworks, pci := []string{"quern"}, ""
	if o.python != "" {
		if err := unpack(folder); err != nil {
			return nil, "", err
		}
		frameworks = append(frameworks, "torch")
		if slices.ContainsFunc(cases, func(c benchCase) bool { return c.jax }) {
			frameworks = append(frameworks, "jax")
		}
	}
	var all processes
	for _, framework := range frameworks {
		for _, threads := range o.threads(framework) {
			s := &process{options: o, framework: framework, threads: threads, folder: folder, variables: r.Machine.limits()}
			a, err := s.ask(ctx, request{Do: "versions"})
			if missing := (*missingError)(nil); errors.As(err, &missing) && framework != "quern" {
				s.close()
				fmt.Fprintln(os.Stderr, "bench:", err)
				break
			} else if err != nil {
				s.close()
				all.close()
				return nil, "", err
			}
			all = append(all, s)
			maps.Copy(r.Versions, a.Versions)
			if framework == "quern" {
				r.Machine.GPU, pci = a.GPU, a.PCI
			}
		}
	}
	return all, pci, nil
}

// threads returns the numbers of threads of the processes of a framework; 0 for a GPU.
func (o options) threads(framework string) []int {
	switch {
	case o.device != "cpu":
		return []int{0}
	case framework == "jax":
		return []int{2} // it has no setting for one
	}
	return []int{1, 2}
}

func (all processes) close() {
	for _, s := range all {
		s.close()
	}
}

// The protocol between this program and a benchmark process: one JSON object per line.

// request is a request: versions, prepare, run, count or drop.
type request struct {
	Do      string `json:"do"`
	Bench   string `json:"bench,omitempty"`
	Setting string `json:"setting,omitempty"`
	Steps   int    `json:"steps,omitempty"`
	Empty   int    `json:"empty,omitempty"` // of run: bytes to change before each step, whose time does not count

	// Of prepare.
	Case  string `json:"case,omitempty"`  // file of the arrays, without extension
	Model string `json:"model,omitempty"` // function of the scripts; sizes follow from the arrays
	Heads int    `json:"heads,omitempty"` // attention heads
	Half  bool   `json:"half,omitempty"`  // autocast to bfloat16
}

// reply is the answer to a request, or an error.
type reply struct {
	Versions map[string]string `json:"versions,omitempty"`
	GPU      string            `json:"gpu,omitempty"`    // name of the GPU, with the versions
	PCI      string            `json:"pci,omitempty"`    // its PCI bus ID
	Losses   []float64         `json:"losses,omitempty"` // of the first steps
	Flops    float64           `json:"flops,omitempty"`  // FLOPs of a step that measures the peak
	Seconds  float64           `json:"seconds,omitempty"`
	Counts   *benchfile.Counts `json:"counts,omitempty"`
	Error    string            `json:"error,omitempty"`
	Missing  string            `json:"missing,omitempty"` // why the framework cannot be used
}

// checkedSteps is the number of steps whose losses are compared.
const checkedSteps = 5

// Settings of the process of PyTorch in which another program computes instead.
const (
	onnxruntime = "onnxruntime"
	pyarrow     = "pyarrow"
	tokenizers  = "tokenizers"
)

var programs = []string{onnxruntime, pyarrow, tokenizers}
