package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quernlab/quern/kernel/batch"
)

// The report of quern run --junit: a test suite for each notebook, a test case for each cell that contains code. The
// format has no specification; these are the parts that Jenkins, GitLab and GitHub's reporters read.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		File    string      `xml:"file,attr"`
		Time    string      `xml:"time,attr"`
		Failure *junitCause `xml:"failure"`
		Error   *junitCause `xml:"error"`
		Skipped *junitCause `xml:"skipped"`
	}
	junitCause struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes the report of jobs to a file.
func writeJUnit(path string, jobs []*job) error {
	var report junitSuites
	var took time.Duration
	for _, j := range jobs {
		s := j.suite()
		report.Suites = append(report.Suites, s)
		report.Tests += s.Tests
		report.Failures += s.Failures
		report.Errors += s.Errors
		report.Skipped += s.Skipped
		took += j.took
	}
	report.Time = seconds(took)
	b, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	if err := os.WriteFile(path, append([]byte(xml.Header), append(b, '\n')...), 0o666); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

func (j *job) suite() junitSuite {
	path := filepath.ToSlash(j.path)
	class := strings.NewReplacer("/", ".").Replace(strings.TrimSuffix(path, ".ipynb"))
	s := junitSuite{Name: path}
	add := func(c junitCase) {
		c.Class, c.File = class, path
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	failed := false
	for i, cell := range j.notebook.Cells {
		if cell.Type != "code" || strings.TrimSpace(cell.Source) == "" {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(cell.Source), "\n")
		c := junitCase{Name: fmt.Sprintf("cell %d: %s", i+1, first)}
		ended, ran := j.cells[i+1]
		c.Time = seconds(ended.took)
		switch {
		case ran && ended.err != nil:
			c.Failure, failed = cause(ended.err), true
		case !ran && batch.Runs(cell):
			c.Skipped = &junitCause{Message: "not run, because an earlier cell failed"}
		case !ran:
			c.Skipped = &junitCause{Message: "tagged skip-execution"}
		}
		add(c)
	}
	if j.err != nil && !failed { // for example, the file could not be read or written
		add(junitCase{Name: "notebook", Time: seconds(0), Error: cause(j.err)})
	}
	s.Time = seconds(j.took)
	return s
}

// cause returns the message and the traceback of an error.
func cause(err error) *junitCause {
	message := batch.Plain(err.Error())
	c := &junitCause{Message: message, Type: "error", Text: message}
	var cell *batch.CellError
	var differs *differenceError
	switch {
	case errors.As(err, &cell):
		c.Type, c.Text = cell.Why.Name, batch.Plain(strings.Join(cell.Why.Traceback, "\n"))
	case errors.As(err, &differs):
		c.Type = "outputs differ"
		c.Message, _, _ = strings.Cut(c.Message, "\n")
	}
	return c
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
