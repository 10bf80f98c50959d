package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"
)

// An ending is how a process ended.
type ending struct {
	status  int    // -1 if a signal ended it
	output  string // stdout and stderr combined
	timeout bool
}

// waitForPipes is how long grandchildren may keep the output open.
const waitForPipes = time.Second

// execute runs a command in a folder and kills it after the limit.
func execute(ctx context.Context, limit time.Duration, dir, name string, arguments ...string) (ending, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(limited, name, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = waitForPipes
	err := cmd.Run()
	e := ending{output: out.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return e, ctx.Err()
	case limited.Err() != nil:
		e.timeout = true
		return e, nil
	case errors.As(err, &exit):
		e.status = exit.ExitCode()
		return e, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return e, nil
	}
	return e, err
}
