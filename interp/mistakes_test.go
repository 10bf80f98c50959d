package interp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// inner matches internal names that only lowered code has: the letter ʹ, internal packages, and
// fields of raw values.
var inner = regexp.MustCompile(`ʹ|makeFuncStub|yaegi|quern/(interp|rt|session)|\brt\.\w*(Field|Box)|\binterp\.|\bX(x|next|code|list|v|a)\b|internal error`)

// TestMistakes checks that no internal name is in the messages for the mistakes of
// testdata/mistakes.cells, each of which runs in a session after the first two cells, and in the
// output of a cell after it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/mistakes.cells")
	if err != nil {
		t.Fatal(err)
	}
	cells := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n----\n")
	for i, src := range cells[2:] {
		if raceEnabled && i%10 != 0 {
			continue // three hundred sessions take a minute under the race detector
		}
		n := newNotebook(t)
		var shown strings.Builder
		for i, cell := range []string{cells[0], cells[1], src, "useP(P{})\nuseP(p)\ns.Sum()"} {
			result, err := n.Execute(context.Background(), i+1, cell)
			var e *interp.Error
			switch {
			case errors.As(err, &e):
				fmt.Fprintln(&shown, e.Name, e.Value, strings.Join(e.Traceback, "\n"))
			case err != nil:
				t.Errorf("%q: %T: %v", cell, err, err)
			}
			fmt.Fprintln(&shown, n.out.take(), n.err.take(), result.Data)
		}
		if found := inner.FindString(shown.String()); found != "" {
			t.Errorf("%q shows %q:\n%s", src, found, shown.String())
		}
		n.Close()
	}
}
