package lower_test

import (
	"errors"
	"go/parser"
	"go/token"
	"testing"

	"github.com/quernlab/quern/interp/lower"
)

// FuzzLower lowers any cell that the checker accepts. Lowering must succeed or return an
// UnsupportedError, the text must be the same twice, and it must be valid Go.
func FuzzLower(f *testing.F) {
	seeds := constructs(f)
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, c := range seeds {
		f.Add(c.Decl + "\n" + c.Body)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		var texts []string
		for range 2 {
			s := newChecked(t)
			checked, err := s.checker.Check(t.Context(), 1, cell)
			if err != nil {
				return
			}
			unit, err := s.program.Lower(t.Context(), checked)
			var unsupported *lower.UnsupportedError
			if errors.As(err, &unsupported) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, unit.Source)
		}
		if texts[0] != texts[1] {
			t.Errorf("two runs differ: %s", difference(texts[0], texts[1]))
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+texts[0], parser.SkipObjectResolution); err != nil {
			t.Errorf("%v\n%s", err, texts[0])
		}
	})
}
