package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quernlab/quern/internal/atomicfile"
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
		// Failures of earlier attempts: flaky ones if the last attempt succeeded, as Maven's Surefire reports them.
		Flaky []*junitCause `xml:"flakyFailure"`
		Rerun []*junitCause `xml:"rerunFailure"`
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
	text := append([]byte(xml.Header), append(b, '\n')...)
	if !isReplaced(path) {
		err = os.WriteFile(path, text, 0o666)
	} else {
		// A cell may have replaced the file by a link to another one.
		err = atomicfile.ReplaceLink(path, 0, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

// isReplaced reports whether a file is written beside a path and then renamed, unlike to a pipe or device, such as
// /dev/stdout.
func isReplaced(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() || info.IsDir()
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
	numbers := j.notebook.Numbers()
	for i, cell := range j.notebook.Cells {
		if cell.Type != "code" || strings.TrimSpace(cell.Source) == "" {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(cell.Source), "\n")
		c := junitCase{Name: fmt.Sprintf("cell %d: %s", numbers[i], first)}
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
		for _, a := range j.earlier {
			if ended := a.cells[i+1]; ended.err != nil && c.Failure == nil {
				c.Flaky = append(c.Flaky, cause(ended.err))
			} else if ended.err != nil {
				c.Rerun = append(c.Rerun, cause(ended.err))
			}
		}
		add(c)
	}
	whole := junitCase{Name: "notebook", Time: seconds(0)}
	if j.err != nil && !failed { // for example, the file could not be read or written
		whole.Error = cause(j.err)
	}
	for _, a := range j.earlier {
		if !a.failedCell() {
			whole.Flaky = append(whole.Flaky, cause(a.err))
		}
	}
	if whole.Error != nil || whole.Flaky != nil {
		add(whole)
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
	var order *orderError
	switch {
	case errors.As(err, &cell):
		c.Type, c.Text = cell.Why.Name, batch.Plain(strings.Join(cell.Why.Traceback, "\n"))
	case errors.As(err, &differs):
		c.Type = "outputs differ"
		c.Message, _, _ = strings.Cut(c.Message, "\n")
	case errors.As(err, &order):
		c.Type = "order"
	}
	return c
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
