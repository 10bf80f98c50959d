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

// varies is what a person writes into failures.txt as the outcome of a file that
// sometimes passes; it stays there.
const varies outcome = "varies"

// A failure is a line of failures.txt: tabs separate outcome, name and cause.
type failure struct {
	outcome outcome
	cause   string
}

// failures are the files that are known not to pass.
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
			return nil, fmt.Errorf("failures.txt: %q has not three fields", line)
		}
		list[fields[1]] = failure{outcome: outcome(fields[0]), cause: fields[2]}
	}
	return list, lines.Err()
}

// after returns the list once verdicts are in. Files without a verdict stay; a cause
// that a person gave stays with the outcome that it explains.
func (f failures) after(verdicts []verdict) failures {
	next := failures{}
	for name, old := range f {
		next[name] = old
	}
	for _, v := range verdicts {
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

// cause returns that of the list, or a guess.
func (f failures) cause(v verdict) string {
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

// regressions returns an error that names the files that are not in the list and do
// not pass. Those that are, and do, are noted on w.
func (f failures) regressions(verdicts []verdict, w io.Writer) error {
	var broken []string
	for _, v := range verdicts {
		old, known := f[v.Name]
		switch {
		case v.Outcome != pass && !known:
			broken = append(broken, fmt.Sprintf("%s: %s: %s", v.Name, v.Outcome, v.Message))
		case v.Outcome == pass && known && old.outcome != varies:
			fmt.Fprintf(w, "%s passes now: take it out of failures.txt, or run with -update\n", v.Name)
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d files that passed do not:\n%s", len(broken), strings.Join(broken, "\n"))
	}
	return nil
}
