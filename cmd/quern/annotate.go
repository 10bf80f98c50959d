package main

import (
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

	"github.com/quernlab/quern/kernel/batch"
	"github.com/quernlab/quern/kernel/notebook"
)

// lineWriter remembers whether the text that it passes on ends within a line. GitHub reads workflow commands only at the
// beginning of one.
type lineWriter struct {
	io.Writer
	within bool
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.within = p[len(p)-1] != '\n'
	}
	return w.Writer.Write(p)
}

// endLine ends the line that the text is in.
func (w *lineWriter) endLine() {
	if w.within {
		fmt.Fprintln(w)
	}
}

// annotate prints the failures of a job as workflow commands, which GitHub shows at the line of the file. The commands
// are documented at docs.github.com, "Workflow commands for GitHub Actions".
func (j *job) annotate(w io.Writer) {
	annotated := false
	for _, i := range slices.Sorted(maps.Keys(j.cells)) {
		if err := j.cells[i].err; err != nil {
			line := 0
			if place, ok := j.places[j.notebook.Cells[i-1]]; ok {
				line = notebook.Line(j.text, place, j.failedLine(i, err))
			}
			annotation(w, j.path, line, fmt.Sprintf("cell %d", i), err.Error())
			annotated = true
		}
	}
	if j.err != nil && !annotated {
		annotation(w, j.path, 0, "notebook", j.err.Error())
	}
}

// position matches where an error says that it is: the execution count of a cell, and a line.
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

// annotation prints one command. Without a line, GitHub shows it at the file.
func annotation(w io.Writer, path string, line int, title, message string) {
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
	fmt.Fprintf(w, "::error %s,title=%s::%s\n", where, property(title), escapedData.Replace(batch.Plain(message)))
}

// Replacements that the commands need.
var (
	escapedData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapedProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func property(s string) string { return escapedProperty.Replace(s) }
