package interp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/golden"
)

func readCorpus(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestConstructs runs the programs of testdata/constructs.json: the declarations as one cell, the
// body as another. The output must be that of the compiled program.
func TestConstructs(t *testing.T) {
	t.Parallel()
	var programs []struct{ Name, Decl, Body, Stdout string }
	readCorpus(t, "constructs.json", &programs)
	for _, p := range programs {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			var got string
			for _, src := range []string{p.Decl, p.Body + "\n;"} {
				got += n.run(src)
			}
			if reason, ok := known[p.Name]; ok {
				if got == p.Stdout {
					t.Errorf("passes now: take it out of the list of what fails (%s)", reason)
				}
				return
			}
			if got != p.Stdout {
				t.Errorf("%s\n----\n%s\n got %q\nwant %q", p.Decl, p.Body, got, p.Stdout)
			}
		})
	}
}

// asynchronous are the cases whose output depends on when a goroutine runs. TestGoroutines has
// similar cases.
var asynchronous = map[string]bool{"chan_across_cells": true, "goroutine_outlive": true}

// known has the programs whose output differs from that of compiled Go, each with the reason. The
// test fails if another program fails or if one of these passes; remove the latter from the list.
var known = map[string]string{
	"text_template_method": "it writes to os.Stdout, which this test does not redirect",
}

// TestNotebooks runs the sequences of cells of testdata/notebook_cells.json.
// testdata/notebook_cells.golden has the expected output, result or error of each cell, which
// follows from the Go specification and the rules in the package comment.
func TestNotebooks(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name  string
		Cells []string
	}
	readCorpus(t, "notebook_cells.json", &cases)
	var all strings.Builder
	for _, c := range cases {
		if asynchronous[c.Name] {
			continue
		}
		all.WriteString("# " + c.Name + "\n")
		n := newNotebook(t)
		for _, src := range c.Cells {
			all.WriteString("> " + strings.ReplaceAll(src, "\n", "\n. ") + "\n")
			all.WriteString(line(n.run(src)))
		}
		all.WriteString("\n")
	}
	golden.Check(t, "notebook_cells.golden", []byte(all.String()))
}
