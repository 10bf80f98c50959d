package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/interp"
)

// A sequence is a list of cells, each with its outcome: output, result or error. In the
// file, the lines of a cell begin with "> " and ". ", and the outcome follows. No compiler
// can check the outcomes: after -update, check the changes by hand.
type sequence struct {
	name  string
	cells []string
	text  string // content of the file
}

func readSequences(text string) []sequence {
	var all []sequence
	for _, block := range strings.Split("\n"+text, "\n# ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		s := sequence{name: name, text: "# " + strings.TrimRight(block, "\n") + "\n"}
		for _, line := range strings.Split(rest, "\n") {
			if cell, ok := strings.CutPrefix(line, "> "); ok {
				s.cells = append(s.cells, cell)
			} else if more, ok := strings.CutPrefix(line, ". "); ok && len(s.cells) > 0 {
				s.cells[len(s.cells)-1] += "\n" + more
			}
		}
		all = append(all, s)
	}
	return all
}

// TestSequences runs sequences of cells that redefine what earlier cells defined.
func TestSequences(t *testing.T) {
	for _, file := range testdata(t, "*.cells") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var renewed strings.Builder
		for _, s := range readSequences(string(text)) {
			next := s.text // kept if -run excludes the sequence
			t.Run(s.name, func(t *testing.T) {
				got := s.execute(t)
				if reason, ok := failing[s.name]; ok {
					if got == s.text {
						t.Errorf("passes now: take it out of the list of what fails (%s)", reason)
					}
					return
				}
				next = got
				if !golden.Update() && got != s.text {
					t.Error(string(diff.Diff("want", []byte(s.text), "got", []byte(got))))
				}
			})
			renewed.WriteString(next + "\n")
		}
		if golden.Update() {
			if err := os.WriteFile(file, []byte(renewed.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// execute runs the cells and returns them with their outcomes, in the format of the file.
func (s sequence) execute(t *testing.T) string {
	t.Helper()
	var out, stderr buffer
	session, err := interp.New(interp.Stdout(&out), interp.Stderr(&stderr), interp.Stdin(strings.NewReader("")))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var text strings.Builder
	text.WriteString("# " + s.name + "\n")
	for i, src := range s.cells {
		text.WriteString("> " + strings.ReplaceAll(src, "\n", "\n. ") + "\n")
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		result, err := session.Execute(ctx, i+1, src)
		cancel()
		text.WriteString(line(out.take()))
		if e := stderr.take(); e != "" {
			text.WriteString("stderr: " + line(e))
		}
		var failure *interp.Error
		switch {
		case errors.As(err, &failure):
			text.WriteString(line("! " + failure.Name + ": " + failure.Value))
		case err != nil:
			fmt.Fprintf(&text, "! %T is no *interp.Error: %v\n", err, err)
		case result.Data != nil:
			text.WriteString(line(fmt.Sprint("= ", result.Data["text/plain"])))
		}
	}
	return text.String()
}

// line adds a line break to text if its last line has none.
func line(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
