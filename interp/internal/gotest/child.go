package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/quernlab/quern/interp"
	"github.com/quernlab/quern/interp/internal/harness"
)

// Environment variables of a child process: the file to run, and the file to which it
// writes its report.
const (
	fileVariable   = "QUERN_GOTEST_FILE"
	reportVariable = "QUERN_GOTEST_REPORT"
)

// A report describes how the cells of a child process ended. A child that crashed, or
// whose program called os.Exit, writes none.
type report struct {
	Kind    string // name of the interp.Error; "" if main returned
	Message string
	Running bool // whether main had been called
}

// child runs the file that the environment names and exits. In a process that is not a
// child it returns. The exit status for a failed cell is 2, as for a panic.
func child() {
	file := os.Getenv(fileVariable)
	if file == "" {
		return
	}
	// A test may start this program again. That process is a child too, but must not write
	// a report.
	path := os.Getenv(reportVariable)
	os.Unsetenv(reportVariable)
	r, err := runFile(file)
	if err == nil && path != "" {
		err = harness.WriteReport(path, r)
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

// childFailed is the exit status of a child that could not start.
const childFailed = 125

// runFile runs a file as a cell. A cell without statements calls main.
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

// withoutPackage replaces the package clause of a file by spaces, so that line numbers do
// not change.
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
