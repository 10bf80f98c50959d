package lower_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// construct is a small program, as a cell of declarations and one of
// statements; stdout is that of the compiled program.
type construct struct {
	Name, Decl, Body, Stdout string
}

func TestConstructs(t *testing.T) {
	text, err := os.ReadFile("testdata/constructs.json")
	if err != nil {
		t.Fatal(err)
	}
	var constructs []construct
	if err := json.Unmarshal(text, &constructs); err != nil {
		t.Fatal(err)
	}
	if len(constructs) == 0 {
		t.Fatal("no constructs")
	}
	for _, c := range constructs {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			cells := []string{c.Body}
			if strings.TrimSpace(c.Decl) != "" {
				cells = []string{c.Decl, c.Body}
			}
			s, out, err := runCells(t, cells...)
			if err != nil || out != c.Stdout {
				t.Errorf("got\n%s\nwant\n%s\nerror %v\nlowered\n%s", out, c.Stdout, err, s.dump())
			}
		})
	}
}
