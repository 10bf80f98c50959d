package lower_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// construct is a small program, as a cell of declarations and a cell of statements. stdout is the
// output of the compiled program.
type construct struct {
	Name, Decl, Body, Stdout string
}

// divergent maps constructs whose lowered code is wrong to the reason. Remove an entry when it is
// fixed.
var divergent = map[string]string{
	"text_template_method": "it writes to os.Stdout, which this session does not redirect",
}

// constructs returns the constructs in testdata.
func constructs(t testing.TB) []construct {
	t.Helper()
	text, err := os.ReadFile("testdata/constructs.json")
	if err != nil {
		t.Fatal(err)
	}
	var constructs []construct
	if err := json.Unmarshal(text, &constructs); err != nil {
		t.Fatal(err)
	}
	return constructs
}

func TestConstructs(t *testing.T) {
	all := constructs(t)
	if len(all) == 0 {
		t.Fatal("no constructs")
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			cells := []string{c.Body}
			if strings.TrimSpace(c.Decl) != "" {
				cells = []string{c.Decl, c.Body}
			}
			s, out, err := runCells(t, cells...)
			if reason, ok := divergent[c.Name]; ok {
				if err == nil && out == c.Stdout {
					t.Errorf("correct now, although %s: remove it from divergent", reason)
				}
				return
			}
			if err != nil || out != c.Stdout {
				t.Errorf("got\n%s\nwant\n%s\nerror %v\nlowered\n%s", out, c.Stdout, err, s.dump())
			}
		})
	}
}
