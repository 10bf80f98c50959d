package parameter

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/quernlab/quern/kernel/notebook"
)

// UnusedError reports parameters that no cell uses: their names are misspelled, or it is
// the wrong notebook.
type UnusedError struct{ Names []string }

func (e *UnusedError) Error() string {
	if len(e.Names) == 1 {
		return fmt.Sprintf("parameter %s: no cell uses %[1]s; check its spelling, or leave it out", e.Names[0])
	}
	return fmt.Sprintf("parameters %s: no cell uses them; check their spelling, or leave them out", strings.Join(e.Names, ", "))
}

// unused returns the names of the parameters that no cell uses.
func (s Set) unused(n *notebook.Notebook) (names []string) {
	used := map[string]bool{}
	for _, c := range n.Cells {
		if c.Type == "code" && !c.HasTag(injected) {
			identifiers(c.Source, used)
		}
	}
	for _, p := range s {
		if !used[p.Name] {
			names = append(names, p.Name)
		}
	}
	return names
}

// identifiers adds the identifiers of a cell to a set, except those of fields and methods.
// For a cell that is not Go, such as a shell command, it adds the words.
func identifiers(source string, set map[string]bool) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", -1, len(source)), []byte(source), func(token.Position, string) {}, 0)
	for last := token.ILLEGAL; ; {
		_, t, text := s.Scan()
		if t == token.EOF {
			return
		}
		if t == token.IDENT && last != token.PERIOD {
			set[text] = true
		}
		last = t
	}
}
