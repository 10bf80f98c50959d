package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/interp/internal/harness"
)

// oracle.txt has one line for each test whose compiled program prints something or exits
// with a status other than 0. A tab separates the name from the expected output:
//
//	.out     the content of the file with this suffix beside the test
//	"text"   a Go string literal
//	sha256:  the hash of a longer output
//	*        any output, because two runs differ
//	fails    the program exits with another status, because it needs the environment of
//	         Go's own test runner. The test is excluded.
//
//go:embed oracle.txt
var oracleText string

// An oracle has the expected output of the tests, from compiled programs.
type oracle struct {
	release string // of Go, "go1.26"
	root    string
	known   map[string]string // name to output, as in oracle.txt
}

const (
	outputInFile   = ".out"
	outputVaries   = "*"
	programFails   = "fails"
	hashOfOutput   = "sha256:"
	longestLiteral = 200 // bytes; oracle.txt has the hash of a longer output
)

func readOracle(text, root string) (*oracle, error) {
	o := &oracle{root: root, known: map[string]string{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if release, ok := strings.CutPrefix(line, "# release "); ok {
			o.release = release
		}
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		name, output, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("oracle.txt: line %q has no output after a tab", line)
		}
		o.known[name] = output
	}
	return o, lines.Err()
}

// check returns an error if the oracle is of another release of Go.
func (o *oracle) check() error {
	if release := release(); o.release != release {
		return fmt.Errorf("oracle.txt is for %q, but this is %s: regenerate it with -oracle", o.release, release)
	}
	return nil
}

// release returns the minor release of Go, "go1.26".
func release() string {
	parts := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// works returns the tests that succeed when they are compiled.
func (o *oracle) works(names []string) []string {
	var some []string
	for _, name := range names {
		if o.known[name] != programFails {
			some = append(some, name)
		}
	}
	return some
}

// agrees reports whether an output is that of the compiled program.
func (o *oracle) agrees(name, output string) (bool, error) {
	want := o.known[name]
	switch {
	case want == "":
		return output == "", nil
	case want == outputVaries:
		return true, nil
	case want == outputInFile:
		text, err := os.ReadFile(outFile(o.root, name))
		return string(text) == output, err
	case strings.HasPrefix(want, hashOfOutput):
		return hash(output) == want, nil
	}
	text, err := strconv.Unquote(want)
	return text == output, err
}

func outFile(root, name string) string {
	return strings.TrimSuffix(filepath.Join(root, filepath.FromSlash(name)), ".go") + ".out"
}

func hash(text string) string { return fmt.Sprintf("%s%x", hashOfOutput, sha256.Sum256([]byte(text))) }

// compiledLimit is how long building a test may take, and running it. nosplit.go calls the
// compiler a hundred times.
const compiledLimit = 5 * time.Minute

// consult compiles a test, runs it twice, and returns its output in the form of
// oracle.txt.
func consult(ctx context.Context, root, name string) (string, error) {
	dir, err := os.MkdirTemp("", "gotest")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program.exe")
	built, err := harness.Run(ctx, compiledLimit, root, []string{"GOFLAGS="}, "go", "build", "-o", program, filepath.FromSlash(name))
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	if built.Status != 0 || built.Timeout {
		return "", fmt.Errorf("building %s: status %d\n%s", name, built.Status, built.Output)
	}
	var ends [2]harness.Ending
	for i := range ends {
		if ends[i], err = harness.Run(ctx, compiledLimit, root, nil, program); err != nil {
			return "", err
		}
		if ends[i].Timeout {
			return "", fmt.Errorf("%s: the compiled program does not end within %v", name, compiledLimit)
		}
		if ends[i].Status != 0 {
			return programFails, nil
		}
	}
	output := ends[0].Output
	text, err := os.ReadFile(outFile(root, name))
	switch {
	case err == nil && string(text) == output:
		return outputInFile, nil
	case output == "":
		return "", nil
	case output != ends[1].Output:
		return outputVaries, nil
	case len(output) > longestLiteral:
		return hash(output), nil
	}
	return strconv.Quote(output), nil
}

// text returns the content of oracle.txt.
func (o *oracle) text() string {
	var b strings.Builder
	b.WriteString("# What compiled programs do that do not end silently with status 0. Made by go run ./interp/internal/gotest -oracle\n")
	fmt.Fprintf(&b, "# release %s\n", o.release)
	for _, name := range slices.Sorted(maps.Keys(o.known)) {
		if o.known[name] != "" {
			fmt.Fprintf(&b, "%s\t%s\n", name, o.known[name])
		}
	}
	return b.String()
}
