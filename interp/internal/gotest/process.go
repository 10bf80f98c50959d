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
	output  string // stdout and stderr combined, truncated to maxOutput
	timeout bool
	seconds float64
}

// maxOutput is more than any test of the distribution prints, in bytes.
const maxOutput = 4 << 20

// waitForPipes is how long grandchildren may keep the output open.
const waitForPipes = time.Second

// run runs a command in dir, with additional environment variables, and kills it after the
// limit.
func run(ctx context.Context, limit time.Duration, dir string, env []string, name string, args ...string) (ending, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out capped
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PWD="+dir), env...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = waitForPipes
	start := time.Now()
	err := cmd.Run()
	e := ending{output: out.String(), seconds: time.Since(start).Seconds()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		e.timeout = true
		return e, nil
	case ctx.Err() != nil:
		return e, ctx.Err()
	case errors.As(err, &exit):
		e.status = exit.ExitCode()
		return e, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return e, nil
	}
	return e, err
}

// capped keeps the first maxOutput bytes that are written to it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := maxOutput - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
