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
)

// oracle.txt: a line a file, for each whose compiled program does more than end
// silently with status 0. A tab separates name and output, which is
//
//	.out     the content of the file of that suffix beside it
//	"text"   a text as in Go source
//	sha256:  the hash of a longer one
//	*        anything, because two runs differ
//	fails    the program ends with another status: it wants the environment that
//	         Go's own runner makes. It is left out.
//
//go:embed oracle.txt
var oracleText string

// An oracle knows what compiled programs do.
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
	longestLiteral = 200 // bytes of an output that oracle.txt holds as it is
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
			return nil, fmt.Errorf("oracle.txt: %q has no output", line)
		}
		o.known[name] = output
	}
	return o, lines.Err()
}

// check refuses to compare with what another release of Go did.
func (o *oracle) check() error {
	if release := release(); o.release != release {
		return fmt.Errorf("oracle.txt is of %q and this is %s: run with -oracle", o.release, release)
	}
	return nil
}

// release returns the minor release of Go, "go1.26".
func release() string {
	parts := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// works returns the tests that succeed when compiled.
func (o *oracle) works(names []string) []string {
	var some []string
	for _, name := range names {
		if o.known[name] != programFails {
			some = append(some, name)
		}
	}
	return some
}

// agrees reports whether an output is the one of the compiled program.
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

// compiledLimit is what building a test and running it may take each. nosplit.go
// calls the compiler a hundred times.
const compiledLimit = 5 * time.Minute

// consult compiles a file, runs it twice, and returns what oracle.txt says of it.
func consult(ctx context.Context, root, name string) (string, error) {
	dir, err := os.MkdirTemp("", "gotest")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program.exe")
	built, err := run(ctx, compiledLimit, root, []string{"GOFLAGS="}, "go", "build", "-o", program, filepath.FromSlash(name))
	if err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	if built.status != 0 || built.timeout {
		return "", fmt.Errorf("building %s: status %d\n%s", name, built.status, built.output)
	}
	var ends [2]ending
	for i := range ends {
		if ends[i], err = run(ctx, compiledLimit, root, nil, program); err != nil {
			return "", err
		}
		if ends[i].timeout {
			return "", fmt.Errorf("%s: compiled, it does not end within %v", name, compiledLimit)
		}
		if ends[i].status != 0 {
			return programFails, nil
		}
	}
	output := ends[0].output
	text, err := os.ReadFile(outFile(root, name))
	switch {
	case err == nil && string(text) == output:
		return outputInFile, nil
	case output == "":
		return "", nil
	case output != ends[1].output:
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
