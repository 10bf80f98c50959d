package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"sort"
	"strings"
)

//go:embed failures.txt
var failuresText string

// varies is the outcome of a test that sometimes passes. It is written into failures.txt
// by hand and kept by -update.
const varies outcome = "varies"

// A failure is a line of failures.txt: tabs separate outcome, name and cause.
type failure struct {
	outcome outcome
	cause   string
}

// failures has the tests that are known not to pass, by name.
type failures map[string]failure

func readFailures(text string) (failures, error) {
	list := failures{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("failures.txt: line %q must have three fields separated by tabs", line)
		}
		list[fields[1]] = failure{outcome: outcome(fields[0]), cause: fields[2]}
	}
	return list, lines.Err()
}

// after returns the list updated with results. Tests without a result are kept, and a cause
// that was written by hand is kept while the outcome is the same.
func (f failures) after(results []result) failures {
	next := failures{}
	for name, old := range f {
		next[name] = old
	}
	for _, v := range results {
		if f[v.Name].outcome == varies {
			continue
		}
		if v.Outcome == pass {
			delete(next, v.Name)
			continue
		}
		next[v.Name] = failure{outcome: v.Outcome, cause: f.cause(v)}
	}
	return next
}

// cause returns the cause in the list, or a guess.
func (f failures) cause(v result) string {
	if old, ok := f[v.Name]; ok && (old.outcome == v.Outcome || old.outcome == varies) && !strings.HasPrefix(old.cause, "?") {
		return old.cause
	}
	return guess(v)
}

// text returns the content of failures.txt.
func (f failures) text() string {
	var b strings.Builder
	b.WriteString("# Tests of the Go distribution that do not pass as cells: outcome, name, cause. Made by go run ./interp/internal/gotest -update;\n")
	b.WriteString("# write causes by hand in place of those that begin with ?\n")
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", f[name].outcome, name, f[name].cause)
	}
	return b.String()
}

// regressions returns an error that names the tests that do not pass and are not in the
// list. It writes a note to w for each test in the list that passes.
func (f failures) regressions(results []result, w io.Writer) error {
	var broken []string
	for _, v := range results {
		old, known := f[v.Name]
		switch {
		case v.Outcome != pass && !known:
			broken = append(broken, fmt.Sprintf("%s: %s: %s", v.Name, v.Outcome, v.Message))
		case v.Outcome == pass && known && old.outcome != varies:
			fmt.Fprintf(w, "%s passes now: remove it from failures.txt, or run with -update\n", v.Name)
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d tests that used to pass do not:\n%s", len(broken), strings.Join(broken, "\n"))
	}
	return nil
}
