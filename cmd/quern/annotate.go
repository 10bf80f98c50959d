package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/quernlab/quern/kernel/batch"
	"github.com/quernlab/quern/kernel/notebook"
)

// runFenced calls run with streams in which GitHub takes nothing for its commands, whatever cells print and notebooks are
// named, and then prints the failures of its jobs as commands. Both streams are one, since GitHub reads a line of standard
// error as a command, too, and two streams have no order.
func runFenced(std stdio, run func(stdio) ([]*job, error)) error {
	fence := newFence(std.out)
	jobs, err := run(stdio{fence, fence})
	if err != nil && !errors.Is(err, errReported) {
		var usage *usageError
		if errors.As(err, &usage) {
			fence.end()
			return err
		}
		report(err, stdio{fence, fence})
		err = errReported
	}
	fence.end()
	for _, j := range jobs {
		j.annotate(std.out)
	}
	return err
}

// fence is a part of a log in which GitHub executes no commands. It begins with the command stop-commands and ends with a
// word that nobody can guess. If a cell has read it, for example in a file that the log is written to, it cannot print it.
type fence struct {
	mu     sync.Mutex
	w      io.Writer
	token  []byte
	held   []byte // the beginning of a possible token at the end of the text
	within bool   // the text ends within a line
}

func newFence(w io.Writer) *fence {
	f := &fence{w: w, token: []byte(rand.Text())}
	fmt.Fprintf(w, "::stop-commands::%s\n", f.token)
	return f
}

// Write writes text without the token.
func (f *fence) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := bytes.ReplaceAll(append(f.held, p...), f.token, []byte("***"))
	keep := 0
	for n := min(len(text), len(f.token)-1); n > 0; n-- {
		if bytes.HasPrefix(f.token, text[len(text)-n:]) {
			keep = n
			break
		}
	}
	f.held = bytes.Clone(text[len(text)-keep:])
	return len(p), f.pass(text[:len(text)-keep])
}

// pass writes text to the log.
func (f *fence) pass(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	f.within = text[len(text)-1] != '\n'
	_, err := f.w.Write(text)
	return err
}

// end ends the fence: from here on, GitHub executes commands. What is written later is discarded.
func (f *fence) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.pass(f.held)
	if f.within {
		fmt.Fprintln(f.w)
	}
	fmt.Fprintf(f.w, "::%s::\n", f.token)
	f.w = io.Discard
}

// annotate prints the failures of a job as workflow commands, which GitHub shows at the line of the file. The commands
// are documented at docs.github.com, "Workflow commands for GitHub Actions".
func (j *job) annotate(w io.Writer) {
	annotated := false
	numbers := j.notebook.Numbers()
	for _, earlier := range j.earlier {
		annotation(w, "warning", j.path, 0, "flaky", fmt.Sprintf("an attempt failed: %v", earlier.err))
	}
	for _, i := range slices.Sorted(maps.Keys(j.cells)) {
		if err := j.cells[i].err; err != nil {
			line := 0
			if place, ok := j.places[j.notebook.Cells[i-1]]; ok {
				line = notebook.Line(j.text, place, j.failedLine(i, err))
			}
			annotation(w, "error", j.path, line, fmt.Sprintf("cell %d", numbers[i-1]), err.Error())
			annotated = true
		}
	}
	if j.err != nil && !annotated {
		annotation(w, "error", j.path, 0, "notebook", j.err.Error())
	}
}

// position matches where an error says that it is: the number of a cell, and a line.
var position = regexp.MustCompile(`cell\[(\d+)\]:(\d+)`)

// failedLine returns the line of a cell that an error names, or 1.
func (j *job) failedLine(cell int, err error) int {
	var failed *batch.CellError
	if !errors.As(err, &failed) {
		return 1
	}
	own := strconv.Itoa(j.notebook.Cells[cell-1].Count)
	for _, text := range append([]string{failed.Why.Value}, failed.Why.Traceback...) {
		for _, found := range position.FindAllStringSubmatch(batch.Plain(text), -1) {
			if line, err := strconv.Atoi(found[2]); err == nil && found[1] == own {
				return line
			}
		}
	}
	return 1
}

// annotation prints one command, of the level error or warning. Without a line, GitHub shows it at the file.
func annotation(w io.Writer, level, path string, line int, title, message string) {
	if root := os.Getenv("GITHUB_WORKSPACE"); root != "" {
		if whole, err := filepath.Abs(path); err == nil {
			if below, err := filepath.Rel(root, whole); err == nil && filepath.IsLocal(below) {
				path = below
			}
		}
	}
	where := "file=" + property(filepath.ToSlash(path))
	if line > 0 {
		where += fmt.Sprintf(",line=%d", line)
	}
	fmt.Fprintf(w, "::%s %s,title=%s::%s\n", level, where, property(title), escapedData.Replace(batch.Plain(message)))
}

// Replacements that the commands need.
var (
	escapedData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapedProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func property(s string) string { return escapedProperty.Replace(s) }
