package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

// oracle.txt: a line a file, for each whose compiled program does more than end
// silently with status 0. Tabs separate name, status and output, which is
//
//	.out     the content of the file of that suffix beside it
//	"text"   a text as in Go source
//	sha256:  the hash of a longer one
//	*        anything: two runs differ, or the program panics and prints addresses
//
//go:embed oracle.txt
var oracleText string

// An oracle knows what compiled programs do.
type oracle struct {
	release string // of Go, "go1.26"
	root    string
	known   map[string]expectation
}

// An expectation is a line of oracle.txt. The zero value is silent success.
type expectation struct {
	status int
	output string // as in the table; "" is none
}

// longestText is what oracle.txt holds as text; a longer output is a hash.
const longestText = 200

func readOracle(text, root string) (*oracle, error) {
	o := &oracle{root: root, known: map[string]expectation{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if release, ok := strings.CutPrefix(line, "# release "); ok {
			o.release = release
		}
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("oracle.txt: %q has not three fields", line)
		}
		status, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("oracle.txt: %q: %w", line, err)
		}
		o.known[fields[0]] = expectation{status: status, output: fields[2]}
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

// release is the minor release of Go, "go1.26".
func release() string {
	parts := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// agrees reports whether an output is the one of the compiled program.
func (o *oracle) agrees(name, output string) (bool, error) {
	want := o.known[name].output
	switch {
	case want == "*":
		return true, nil
	case want == ".out":
		text, err := os.ReadFile(outFile(o.root, name))
		return string(text) == output, err
	case strings.HasPrefix(want, "sha256:"):
		return hash(output) == want, nil
	case want == "":
		return output == "", nil
	}
	text, err := strconv.Unquote(want)
	return text == output, err
}

func outFile(root, name string) string {
	return strings.TrimSuffix(filepath.Join(root, filepath.FromSlash(name)), ".go") + ".out"
}

func hash(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))[:7+32] }

// compiledLimit is what building a test and running it may take each. nosplit.go
// calls the compiler a hundred times.
const compiledLimit = 5 * time.Minute

// consult compiles a file, runs it twice, and returns what is to be expected.
func consult(ctx context.Context, root, name string) (expectation, error) {
	dir, err := os.MkdirTemp("", "gotest")
	if err != nil {
		return expectation{}, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program.exe")
	built, err := run(ctx, compiledLimit, root, []string{"GOFLAGS="}, "go", "build", "-o", program, filepath.FromSlash(name))
	if err != nil || built.status != 0 || built.timeout {
		return expectation{}, fmt.Errorf("building %s: %v\n%s", name, err, built.output)
	}
	first, err := run(ctx, compiledLimit, root, nil, program)
	if err != nil {
		return expectation{}, err
	}
	second, err := run(ctx, compiledLimit, root, nil, program)
	if err != nil {
		return expectation{}, err
	}
	if first.timeout || second.timeout || first.status != second.status {
		return expectation{}, fmt.Errorf("%s: compiled, it ends with status %d and %d, or too late (%v, %v)",
			name, first.status, second.status, first.timeout, second.timeout)
	}
	e := expectation{status: first.status, output: first.output}
	text, err := os.ReadFile(outFile(root, name))
	switch {
	case err == nil && string(text) == first.output:
		e.output = ".out"
	case first.output == "":
	case first.output != second.output || first.status != 0:
		e.output = "*"
	case len(first.output) > longestText:
		e.output = hash(first.output)
	default:
		e.output = strconv.Quote(first.output)
	}
	return e, nil
}

// text is the content of oracle.txt.
func (o *oracle) text() string {
	var b strings.Builder
	b.WriteString("# What compiled programs print and their exit status: name, status, output. Made by go run ./interp/internal/gotest -oracle\n")
	fmt.Fprintf(&b, "# release %s\n", o.release)
	var names []string
	for name, e := range o.known {
		if e != (expectation{}) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s\t%d\t%s\n", name, o.known[name].status, o.known[name].output)
	}
	return b.String()
}
