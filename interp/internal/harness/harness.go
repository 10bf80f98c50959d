// Package harness has what the commands gotest and modules share: each runs many programs,
// one in a child process of its own, which is the command itself and writes a report.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

// Main runs a command until it ends or is interrupted. An error is printed after the
// command's name, and exits.
func Main(name string, command func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// SourceFolder returns the folder of a package of this module.
func SourceFolder(ctx context.Context, path string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "github.com/quernlab/quern/"+path).Output()
	if err != nil {
		return "", fmt.Errorf("find the source folder of %s with go list: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Matching returns the items that have a name that matches a pattern. None is an error.
func Matching[T any](items []T, pattern string, names func(T) []string) ([]T, error) {
	r, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var some []T
	for _, item := range items {
		for _, name := range names(item) {
			if r.MatchString(name) {
				some = append(some, item)
				break
			}
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no name matches %q", pattern)
	}
	return some, nil
}

// An Ending is how a process ended.
type Ending struct {
	Status  int    // -1 if a signal ended it
	Output  string // stdout and stderr combined, truncated to maxOutput
	Timeout bool
	Seconds float64
	CPU     time.Duration // user and system time of the process
}

// maxOutput is more than any program prints, in bytes.
const maxOutput = 4 << 20

// waitForPipes is how long grandchildren may keep the output open.
const waitForPipes = time.Second

// Run runs a command in dir, with additional environment variables, and kills it after the
// limit.
func Run(ctx context.Context, limit time.Duration, dir string, env []string, name string, args ...string) (Ending, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out capped
	cmd := exec.CommandContext(limited, name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PWD="+dir), env...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = waitForPipes
	start := time.Now()
	err := cmd.Run()
	e := Ending{Output: out.b.String(), Seconds: time.Since(start).Seconds()}
	if p := cmd.ProcessState; p != nil {
		e.CPU = p.UserTime() + p.SystemTime()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return e, ctx.Err()
	case limited.Err() != nil:
		e.Timeout = true
		return e, nil
	case errors.As(err, &exit):
		e.Status = exit.ExitCode()
		return e, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return e, nil
	}
	return e, err
}

// capped keeps the first maxOutput bytes that are written to it. It does not embed the
// buffer, whose ReadFrom would read everything.
type capped struct{ b bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := maxOutput - c.b.Len(); room > 0 {
		c.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// WriteReport writes the report of a child to a file.
func WriteReport(path string, report any) error {
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// ReadReport reads the report of a child; it is nil if the file is empty.
func ReadReport[T any](path string) (*T, error) {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	report := new(T)
	return report, json.Unmarshal(text, report)
}

var predeclared = regexp.MustCompile(`note: \w+ is predeclared in Go: [^\n]*\n(?:note: and \d+ more\n)?`)

// WithoutNotes returns the output of cells without the notes for predeclared names that they redefine, which compiled Go does not
// print.
func WithoutNotes(output string) string { return predeclared.ReplaceAllString(output, "") }
