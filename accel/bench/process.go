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
	"strconv"
	"strings"
)

// scripts are the scripts of the other frameworks.
//
//go:embed peer/*.py
var scripts embed.FS

// process is a benchmark process. It executes requests and sleeps in between.
type process struct {
	framework string // quern, torch or jax
	threads   int
	command   *exec.Cmd
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

// startProcess starts a process that ends when ctx is done or when it is closed.
func startProcess(ctx context.Context, o options, folder, framework string, threads int) (*process, error) {
	s := &process{framework: framework, threads: threads}
	count := strconv.Itoa(threads)
	if framework == "quern" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		s.command = exec.CommandContext(ctx, self, serveCommand)
		s.command.Env = append(os.Environ(), "GOMAXPROCS="+count)
	} else {
		s.command = exec.CommandContext(ctx, o.python, filepath.Join(folder, "server.py"), framework, count)
		s.command.Env = append(os.Environ(), "OMP_NUM_THREADS="+count, "MKL_NUM_THREADS="+count)
	}
	s.command.Stderr = os.Stderr
	in, err := s.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.requests, s.answers = in, bufio.NewReader(out)
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", framework, err)
	}
	return s, nil
}

// missingError reports that a Python cannot import a framework.
type missingError struct{ framework, reason string }

func (e *missingError) Error() string { return e.framework + " is not measured: " + e.reason }

// ask sends a request and waits for the reply.
func (s *process) ask(q request) (reply, error) {
	// If the process has ended, its last line says why.
	encodeErr := json.NewEncoder(s.requests).Encode(q)
	line, err := s.answers.ReadBytes('\n')
	if err != nil {
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
		return reply{}, fmt.Errorf("%v, %s %s %s: %s", s, q.Do, q.Bench, q.Setting, a.Error)
	}
	return a, nil
}

// close ends the process.
func (s *process) close() error {
	_ = s.requests.Close() // the process ends at the end of its input
	return s.command.Wait()
}

func (s *process) String() string { return fmt.Sprintf("%s with %d threads", s.framework, s.threads) }

// processes are all processes of a run.
type processes []*process

// startProcesses starts the processes, and adds the versions of what they measure to versions. A
// framework that the Python cannot import is reported and left out, if it has the other one.
func startProcesses(ctx context.Context, o options, folder string, versions map[string]string) (processes, error) {
	frameworks := []string{"quern"}
	if o.python != "" {
		if err := unpack(folder); err != nil {
			return nil, err
		}
		frameworks = append(frameworks, "torch", "jax")
	}
	var all processes
	var absent []error
	for _, f := range frameworks {
		started, err := startFramework(ctx, o, folder, f, versions)
		if missing := (*missingError)(nil); errors.As(err, &missing) {
			absent = append(absent, err)
			fmt.Fprintln(os.Stderr, "bench:", err)
		} else if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, started...)
	}
	if len(absent) == 2 {
		all.close()
		return nil, fmt.Errorf("%s has neither torch nor jax: %w", o.python, errors.Join(absent...))
	}
	return all, nil
}

// startFramework starts the processes of one framework, one for each number of threads.
func startFramework(ctx context.Context, o options, folder, framework string, versions map[string]string) (processes, error) {
	var started processes
	for _, threads := range []int{1, 2} {
		if framework == "jax" && threads == 1 {
			continue // it does not have this setting
		}
		s, err := startProcess(ctx, o, folder, framework, threads)
		if err != nil {
			started.close()
			return nil, err
		}
		started = append(started, s)
		a, err := s.ask(request{Do: "versions"})
		if err != nil {
			started.close()
			return nil, err
		}
		maps.Copy(versions, a.Versions)
	}
	return started, nil
}

func (all processes) close() {
	for _, s := range all {
		_ = s.close() // all replies have been received
	}
}
