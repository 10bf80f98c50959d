package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/quernlab/quern/interp/internal/harness"
)

// An outcome classifies how a test ended. See the package comment.
type outcome string

const (
	pass    outcome = "pass"
	refused outcome = "refused"
	wrong   outcome = "wrong"
	panics  outcome = "panic"
	fault   outcome = "fault"
	crash   outcome = "crash"
	timeout outcome = "time-out"
)

// outcomes lists the outcomes in the order of the tables.
var outcomes = []outcome{pass, refused, wrong, panics, fault, crash, timeout}

// A result is the outcome of a test with the reason.
type result struct {
	Name    string
	Outcome outcome
	Message string  `json:",omitempty"` // the error, or the difference
	Seconds float64 // of the child
	Output  string  `json:",omitempty"` // the beginning of its output
}

// classify compares the ending of a child, and its report if there is one, with the
// oracle.
func (o *oracle) classify(name string, e harness.Ending, r *report) (result, error) {
	v := result{Name: name, Seconds: e.Seconds, Output: head(e.Output)}
	same, err := o.agrees(name, harness.WithoutNotes(e.Output))
	switch {
	case err != nil:
		return v, err
	case e.Timeout:
		v.Outcome = timeout
	case r == nil && isCrash(e):
		v.Outcome, v.Message = crash, crashMessage(e)
	case r != nil && r.Kind == "internal error":
		v.Outcome, v.Message = fault, r.Message
	case r != nil && !r.Running && r.Kind == "compile error":
		v.Outcome, v.Message = refused, r.Message
	case e.Status == 0 && same:
		v.Outcome = pass
	case r != nil && r.Kind != "":
		v.Outcome, v.Message = panics, r.Kind+": "+r.Message
	case e.Status != 0:
		v.Outcome, v.Message = wrong, fmt.Sprintf("exit status %d", e.Status)
	default:
		v.Outcome, v.Message = wrong, "another output"
	}
	return v, nil
}

// isCrash reports whether a process without a report was ended by a signal, by Go's
// runtime, or by a panic that no session recovered.
func isCrash(e harness.Ending) bool {
	return e.Status < 0 || e.Status == childFailed ||
		e.Status == 2 && fatal.MatchString(e.Output)
}

// fatal matches the last messages of Go's runtime.
var fatal = regexp.MustCompile(`(?m)^(fatal error: |panic: |runtime: |unexpected fault address|SIG[A-Z]+: ).*`)

func crashMessage(e harness.Ending) string {
	if line := fatal.FindString(e.Output); line != "" {
		return line
	}
	return fmt.Sprintf("exit status %d: %s", e.Status, head(e.Output))
}

// head returns the beginning of a text, for messages.
func head(text string) string {
	const enough = 2000
	if len(text) > enough {
		return text[:enough] + "…"
	}
	return text
}

var (
	place   = regexp.MustCompile(`\bcell\[\d+\]:\d+:\d+: |\b\d+:\d+: `)
	varying = regexp.MustCompile(`0x[0-9a-f]+|\d+`)
)

// guess derives a cause from a message: its first line without positions and numbers, so
// that tests that fail for the same reason get the same cause.
func guess(v result) string {
	text := v.Message
	if v.Outcome == timeout {
		text = "slow, or waits forever"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = place.ReplaceAllString(strings.Join(strings.Fields(line), " "), "")
	line = varying.ReplaceAllString(line, "N")
	const width = 100
	if len([]rune(line)) > width {
		line = string([]rune(line)[:width]) + "…"
	}
	return "?" + line
}
