package interp_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of this package")

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

// TestConstructs runs the programs of testdata/constructs.json, whose output is
// that of the compiled program: the declarations as one cell, the body as
// another.
func TestConstructs(t *testing.T) {
	t.Parallel()
	var programs []struct{ Name, Decl, Body, Stdout string }
	readCorpus(t, "constructs.json", &programs)
	for _, p := range programs {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			skipConcurrent(t, p.Decl+p.Body)
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

// asynchronous are the cases whose output depends on when a goroutine runs;
// TestGoroutines has their like.
var asynchronous = map[string]bool{"chan_across_cells": true, "goroutine_outlive": true}

// known are the programs that do not yet print what compiled Go prints, with the
// reason. A program that is not in this list must not fail, one that is must not
// pass: take it out then.
var known = map[string]string{
	"text_template_method":       "text/template finds methods by reflection, which does not see those of cells",
	"recover_runtime_error_type": "the engine's index error has no numbers",
}

// TestNotebooks runs the sequences of cells of testdata/notebook_cells.json. What
// each cell must print, show or fail with is in testdata/notebook_cells.golden,
// reasoned from Go and the rules of the package comment.
func TestNotebooks(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name  string
		Cells []string
	}
	readCorpus(t, "notebook_cells.json", &cases)
	golden := filepath.Join("testdata", "notebook_cells.golden")
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
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(string(want), "\n\n")
	got := strings.Split(all.String(), "\n\n")
	if len(wanted) != len(got) {
		t.Errorf("%d cases, want %d", len(got), len(wanted))
	}
	for i := range min(len(got), len(wanted)) {
		if got[i] != wanted[i] {
			t.Errorf("got\n%s\nwant\n%s", got[i], wanted[i])
		}
	}
}
