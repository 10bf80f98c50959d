//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// quern returns a command line of this program, in a directory with a notebook of one
// cell, nb.ipynb.
func quern(t *testing.T, cell string, arguments ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "quern") // TestMain identifies the command by this name
	if err := os.Link(program, link); err != nil {
		text, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(link, text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": []any{
		map[string]any{"cell_type": "code", "id": "a", "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil, "source": cell},
	}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "nb.ipynb"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, arguments...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "HOME="+dir, "QUERN_HISTORY=")
	return cmd
}

// begin starts a command and waits for the first line of its output.
func begin(t *testing.T, cmd *exec.Cmd) (stdout *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || line != "begun\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	return r
}

// A run that receives a signal to terminate writes its notebook.
func TestSignalsKeepTheNotebook(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			// A signal that this process ignores, as under nohup, its children ignore too; one that it
			// catches has its default effect on them.
			caught := make(chan os.Signal, 1)
			signal.Notify(caught, s)
			t.Cleanup(func() { signal.Stop(caught) })
			cmd := quern(t, "fmt.Println(\"begun\")\n<-make(chan time.Time)", "run", "nb.ipynb", "-o", "done.ipynb")
			begin(t, cmd)
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("it ended with %v", err)
			}
			contains(t, filepath.Join(cmd.Dir, "done.ipynb"), `"begun\n"`, `"ename": "interrupted"`)
		})
	}
}

// A training that a signal ends is saved for [accel.Resume], as before the machine of a cluster is taken away. Some engines send
// the signal to all processes of a job.
func TestSignalsSaveTheTraining(t *testing.T) {
	t.Parallel()
	const cell = `import (
	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)
train, _, err := data.Digits()
if err != nil {
	panic(err)
}
begun := false
model := nn.Sequential(nn.Flatten(), nn.Dense(16), nn.Lambda(func(x *nn.Tensor) *nn.Tensor {
	if !begun {
		begun = true
		err := os.WriteFile("pid", []byte(fmt.Sprint(os.Getpid())), 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Println("begun")
	}
	return x
}), nn.Dense(10))
run, err := accel.Fit(ctx, model, train, accel.Epochs(1000000), accel.Resume("training"), accel.Quiet())
fmt.Println(len(run.Steps), err)`
	cmd := quern(t, cell, "run", "nb.ipynb", "-o", "done.ipynb")
	var errors strings.Builder
	cmd.Stderr = &errors
	begin(t, cmd)
	text, err := os.ReadFile(filepath.Join(cmd.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	worker, err := strconv.Atoi(string(text))
	if err == nil {
		err = syscall.Kill(worker, syscall.SIGTERM)
	}
	if err == nil {
		err = cmd.Process.Signal(syscall.SIGTERM)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errors.String(), "terminated signal received") {
		t.Errorf("it ended with %v: %s", err, errors.String())
	}
	contains(t, filepath.Join(cmd.Dir, "done.ipynb"), `"ename": "interrupted"`)
	if info, err := os.Stat(filepath.Join(cmd.Dir, "training")); err != nil || info.Size() == 0 {
		t.Errorf("the training is not saved: %v", err)
	}
}

// A run that was started to ignore SIGHUP continues.
func TestNohup(t *testing.T) {
	t.Parallel()
	cmd := quern(t, "fmt.Println(\"begun\")\nfor { if _, err := os.Stat(\"gate\"); err == nil { break }; time.Sleep(time.Millisecond) }\nfmt.Println(\"ended\")", "run", "nb.ipynb", "-o", "done.ipynb")
	cmd.Args = append([]string{"/bin/sh", "-c", `trap '' HUP; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	begin(t, cmd)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	contains(t, filepath.Join(cmd.Dir, "done.ipynb"), `"ended\n"`)
}

// The notebook is written even if nobody reads the output any more.
func TestOutputIsNotRead(t *testing.T) {
	t.Parallel()
	cmd := quern(t, "fmt.Println(\"begun\")\nfor { if _, err := os.Stat(\"gate\"); err == nil { break }; time.Sleep(time.Millisecond) }\nfmt.Println(\"ended\")", "run", "nb.ipynb", "-o", "done.ipynb")
	begin(t, cmd).Close()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	contains(t, filepath.Join(cmd.Dir, "done.ipynb"), `"ended\n"`)
}

func contains(t *testing.T, path string, texts ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(b), text) {
			t.Errorf("%q is not in %s", text, b)
		}
	}
}

// A command fails if it cannot write to standard output.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		testenv.Missing(t, "%v", err)
	}
	for _, arguments := range [][]string{
		{"version"}, {"help"}, {"run", "-h"}, {"doctor"}, {"doctor", "--json"}, {"install", "--prefix", "p"}, {"uninstall", "-h"}, {"kernel", "-h"}, {"worker", "-h"},
		{"run", "nb.ipynb"}, {"run", "nb.ipynb", "-o", "done.ipynb"}, {"export", "nb.ipynb", "-h"},
	} {
		t.Run(strings.Join(arguments, " "), func(t *testing.T) {
			t.Parallel()
			cmd := quern(t, "fmt.Println(1)", arguments...)
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			var stderr strings.Builder
			cmd.Stdout, cmd.Stderr = full, &stderr
			if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "no space left on device") {
				t.Errorf("it ended with %v and said %q", err, stderr.String())
			}
		})
	}
	t.Run("-o", func(t *testing.T) {
		t.Parallel()
		cmd := quern(t, "fmt.Println(1)", "run", "nb.ipynb", "-o", "/dev/full")
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("it ended with %v", err)
		}
	})
}

// The permissions of new files come from the umask.
func TestUmask(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		arguments []string
		file      string
	}{
		{[]string{"run", "nb.ipynb", "-o", "done.ipynb"}, "done.ipynb"},
		{[]string{"export", "nb.ipynb", "-o", "program"}, "program/main.go"},
		{[]string{"install", "--prefix", "p"}, "p/share/jupyter/kernels/quern/kernel.json"},
	} {
		for _, umask := range []os.FileMode{0o022, 0o027, 0o077} {
			t.Run(fmt.Sprintf("%s %03o", row.arguments[0], umask), func(t *testing.T) {
				t.Parallel()
				cmd := quern(t, "fmt.Println(1)", row.arguments...)
				cmd.Args = append([]string{"/bin/sh", "-c", fmt.Sprintf(`umask %03o; exec "$0" "$@"`, umask), cmd.Path}, cmd.Args[1:]...)
				cmd.Path = "/bin/sh"
				if err := cmd.Run(); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(cmd.Dir, filepath.FromSlash(row.file))
				for ; path != cmd.Dir; path = filepath.Dir(path) {
					info, err := os.Stat(path)
					if err != nil {
						t.Fatal(err)
					}
					want := os.FileMode(0o666)
					if info.IsDir() {
						want = 0o777
					}
					if got := info.Mode().Perm(); got != want&^umask {
						t.Errorf("%s has mode %v, want %v", path, got, want&^umask)
					}
				}
			})
		}
	}
}
