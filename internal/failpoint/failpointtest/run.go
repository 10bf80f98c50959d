//go:build failpoints

package failpointtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/failpoint"
)

// An Outcome is the result of an attempt during which a point failed.
type Outcome struct {
	Point  failpoint.Point
	Kind   failpoint.Kind
	Killed bool
	Error  string // empty if the attempt succeeded
}

// A Scenario is what a test does to files, in a folder.
type Scenario struct {
	// Before creates the old content, without failures. It may be nil.
	Before func(folder string) error
	// Attempt creates the new content while a point fails.
	Attempt func(folder string) error
	// Check checks the files that are left, without failures.
	Check func(t *testing.T, folder string, outcome Outcome)
}

// folderVariable is set in the processes that make an attempt.
const folderVariable = "QUERN_FAILPOINT_FOLDER"

// The exit status of a process that has made an attempt.
const (
	succeeded = 10
	failed    = 11
	unreached = 12
)

// Run makes each point of an owner fail in each way.
func Run(t *testing.T, owner string, s Scenario) {
	t.Helper()
	if folder := os.Getenv(folderVariable); folder != "" {
		attempt(folder, s.Attempt)
	}
	points := failpoint.Of(owner)
	if len(points) == 0 {
		t.Fatalf("%q owns no failpoint", owner)
	}
	for _, point := range points {
		for _, kind := range failpoint.Kinds {
			t.Run(fmt.Sprintf("%s %s", strings.ReplaceAll(string(point), "/", " "), kind), func(t *testing.T) {
				folder := t.TempDir()
				if s.Before != nil {
					if err := s.Before(folder); err != nil {
						t.Fatal(err)
					}
				}
				s.Check(t, folder, start(t, point, kind, folder))
			})
		}
	}
}

// attempt is the whole work of a process that start has started.
func attempt(folder string, f func(folder string) error) {
	err := f(folder)
	switch {
	case failpoint.Hits() == 0:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(unreached)
	case err != nil:
		fmt.Fprint(os.Stderr, err)
		os.Exit(failed)
	}
	os.Exit(succeeded)
}

// start makes an attempt in a new process.
func start(t *testing.T, point failpoint.Point, kind failpoint.Kind, folder string) Outcome {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), folderVariable+"="+folder, fmt.Sprintf("%s=%s %s", failpoint.Variable, kind, point))
	var text strings.Builder
	cmd.Stderr = &text
	err := cmd.Run()
	outcome := Outcome{Point: point, Kind: kind}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the attempt did not end as it should: %v\n%s", err, text.String())
	}
	switch status := exit.ExitCode(); {
	case status == succeeded:
	case status == failed:
		outcome.Error = text.String()
	case status == unreached:
		t.Fatalf("the attempt does not reach the failpoint %q: %s", point, text.String())
	case kind == failpoint.Kill && !exit.Exited():
		outcome.Killed = true
	default:
		t.Fatalf("the attempt ended with %v\n%s", exit, text.String())
	}
	if kind == failpoint.Kill && !outcome.Killed {
		t.Fatalf("the attempt was not killed: %+v", outcome)
	}
	return outcome
}

// Left returns the names of the files in a folder that match a pattern.
func Left(t *testing.T, folder, pattern string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}
