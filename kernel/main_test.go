//go:build !js

package kernel

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"github.com/quernlab/quern/kernel/link"
	"github.com/quernlab/quern/kernel/worker/child"
)

// kernelVariable makes the test binary serve as the kernel of a connection file.
const kernelVariable = "TEST_KERNEL_FILE"

// historyVariable is the history file of that kernel. Its log goes to standard error.
const historyVariable = "TEST_KERNEL_HISTORY"

// TestMain makes the test binary serve also as the kernel process and as the worker.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(child.LinkVariable) != "":
		process, err := child.Open()
		if err == nil {
			err = process.Serve(context.Background(), pidWorker{})
		}
		exit(err)
	case os.Getenv(kernelVariable) != "":
		c := config(os.Getenv(kernelVariable))
		if c.HistoryFile = os.Getenv(historyVariable); c.HistoryFile != "" {
			c.SeenDir = c.HistoryFile + ".seen"
			c.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
		exit(Run(context.Background(), c))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "quern:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func config(file string) Config {
	return Config{ConnectionFile: file, WorkerCommand: []string{os.Args[0]}, Version: "1.2.3"}
}

// pidWorker runs cells whose value is its process id. "wait" waits for an interrupt;
// "start" starts an endless program, and its value is the id of that process.
type pidWorker struct{ link.Handlers }

func (pidWorker) Execute(ctx context.Context, r link.Execute) (link.Result, error) {
	fmt.Println("runs")
	if r.Code == "wait" {
		<-ctx.Done()
		return link.Result{Error: &link.CellError{Name: "interrupted", Value: "by the test"}}, nil
	}
	pid := os.Getpid()
	if r.Code == "start" {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			return link.Result{}, err
		}
		pid = cmd.Process.Pid
	}
	return link.Result{Data: map[string]any{"text/plain": fmt.Sprint(pid)}}, nil
}

func (pidWorker) Interrupt(context.Context) error { return nil }
func (pidWorker) Shutdown(context.Context) error  { return nil }
