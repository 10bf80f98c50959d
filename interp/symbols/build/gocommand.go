package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/quernlab/quern/internal/secret"
)

// ErrNoGo is the error if there is no go command.
var ErrNoGo = errors.New("the go command is needed and is not on PATH: install Go from https://go.dev/dl, then start Jupyter again")

// gocommand runs the go command in a directory.
type gocommand struct {
	dir       string
	tags      []string
	variables []string // name=value, in addition to those of this process
}

// environment returns the variables of the go command. A workspace and flags of the user are about other modules.
func (g gocommand) environment() []string {
	return append(append(os.Environ(), "GO111MODULE=on", "GOFLAGS=-mod=mod", "GOWORK=off"), g.variables...)
}

// run returns the standard output of a go command. The error has what it printed.
func (g gocommand) run(ctx context.Context, arguments ...string) ([]byte, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, ErrNoGo
	}
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir, cmd.Env = g.dir, g.environment()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes its temporary files
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return stdout.Bytes(), &CommandError{strings.Join(arguments[:min(2, len(arguments))], " "), shortened(secret.Text(stderr.String())), err}
	}
	return stdout.Bytes(), nil
}

// json decodes the output of a go command.
func (g gocommand) json(ctx context.Context, answer any, arguments ...string) error {
	out, err := g.run(ctx, arguments...)
	if err != nil {
		var failed struct{ Error string } // of go mod download
		if json.Unmarshal(out, &failed) == nil && failed.Error != "" {
			return errors.New(secret.Text(failed.Error))
		}
		return err
	}
	return json.Unmarshal(out, answer)
}

// A CommandError is the failure of a go command, with its output.
type CommandError struct {
	Command, Output string
	Err             error
}

func (e *CommandError) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("go %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("go %s failed:\n%s", e.Command, e.Output)
}

// Unwrap returns how the command ended.
func (e *CommandError) Unwrap() error { return e.Err }

// maxOutput is how many lines of the go command are shown.
const maxOutput = 40

func shortened(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if more := len(lines) - maxOutput; more > 0 {
		lines = append(lines[:maxOutput], fmt.Sprintf("and %d more lines", more))
	}
	return strings.Join(lines, "\n")
}
