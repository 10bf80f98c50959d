package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/quernlab/quern/interp"
)

// The environment of a child: the file that it is to run, and where it tells how
// the cells ended.
const (
	fileVariable   = "QUERN_GOTEST_FILE"
	reportVariable = "QUERN_GOTEST_REPORT"
)

// A report is what a child says about cells that came back to it. A child that
// died, or whose program called os.Exit, leaves none.
type report struct {
	Kind    string // of the interp.Error; "" when main returned
	Message string
	Running bool // whether main had been called
}

// child runs the file of the environment and exits, in a process that was
// started for it; elsewhere it returns. The status of a failed cell is 2, as that
// of a panic.
func child() {
	file := os.Getenv(fileVariable)
	if file == "" {
		return
	}
	// A test that starts itself again gets another child, and its report is no
	// one's.
	path := os.Getenv(reportVariable)
	os.Unsetenv(reportVariable)
	r, err := runFile(file)
	if err == nil && path != "" {
		err = r.write(path)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(childFailed)
	case r.Kind != "":
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.Kind, r.Message)
		os.Exit(2)
	}
	os.Exit(0)
}

// childFailed is the status of a child that could not begin.
const childFailed = 125

// runFile runs a file as a cell, which calls main since it has no statements.
func runFile(file string) (report, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return report{}, err
	}
	s, err := interp.New()
	if err != nil {
		return report{}, err
	}
	_, err = s.Execute(context.Background(), 1, withoutPackage(string(src)))
	var failure *interp.Error
	if errors.As(err, &failure) {
		return report{Kind: failure.Name, Message: failure.Value, Running: failure.Name != "compile error"}, nil
	}
	return report{}, err
}

// withoutPackage blanks the package clause of a file, so that every line keeps
// its number.
func withoutPackage(src string) string {
	const clause = "package main"
	at := 0
	if !strings.HasPrefix(src, clause) {
		at = strings.Index(src, "\n"+clause) + 1
	}
	if !strings.HasPrefix(src[at:], clause) {
		return src
	}
	end := at + len(clause)
	rest := strings.TrimLeft(src[end:], " \t")
	if strings.HasPrefix(rest, ";") {
		end = len(src) - len(rest) + 1
	}
	return src[:at] + strings.Repeat(" ", end-at) + src[end:]
}

func (r report) write(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// readReport reads what a child wrote; nil if it wrote nothing.
func readReport(path string) (*report, error) {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	r := new(report)
	return r, json.Unmarshal(text, r)
}
