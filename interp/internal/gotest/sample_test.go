package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// TestMain makes the test binary the program of its child processes.
func TestMain(m *testing.M) {
	child()
	os.Exit(m.Run())
}

// sampleSize is how many of the tests that pass TestSample runs.
const sampleSize = 60

// TestSample runs a sample of the tests that pass. To run all, use
// go run ./interp/internal/gotest.
func TestSample(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some tests of the Go distribution")
	}
	t.Parallel()
	root, err := testRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); err != nil {
		testenv.Missing(t, "this Go distribution has no tests: %v", err)
	}
	g, err := newRunner(root)
	if err != nil {
		t.Fatal(err)
	}
	g.program = program(t)
	names, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	results, err := g.run(context.Background(), g.sample(g.oracle.works(names)), func(result) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range results {
		if v.Outcome != pass {
			t.Errorf("%s: %s: %s\n%s", v.Name, v.Outcome, v.Message, v.Output)
		}
	}
}

// sample returns sampleSize of the names that are not known to fail, evenly spread.
func (g *runner) sample(names []string) []string {
	var passing []string
	for _, name := range names {
		if _, ok := g.known[name]; !ok {
			passing = append(passing, name)
		}
	}
	var some []string
	for i := range sampleSize {
		some = append(some, passing[i*len(passing)/sampleSize])
	}
	return some
}

// program returns the program of the child processes: this binary, or one without the race
// detector, since some of Go's tests have data races and others would take too long.
func program(t *testing.T) string {
	if !raceEnabled {
		path, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := filepath.Join(t.TempDir(), "gotest.exe")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("building the child: %v\n%s", err, out)
	}
	return path
}
