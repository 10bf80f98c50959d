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

// inner is what only the code that a cell becomes has: the letter of its names, its
// packages, and fields as the raw values have them.
var inner = regexp.MustCompile(`ʹ|makeFuncStub|yaegi|quern/(interp|rt|session)|\brt\.\w*(Field|Box)|\binterp\.|\bX(x|next|code|list|v|a)\b|internal error`)

// TestMistakes says that no word of that is in what is shown of the mistakes of
// testdata/mistakes.cells, each in a session after the first two cells, and of what
// a cell after it meets.
func TestMistakes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/mistakes.cells")
	if err != nil {
		t.Fatal(err)
	}
	cells := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n----\n")
	for i, src := range cells[2:] {
		if raceEnabled && i%10 != 0 {
			continue // three hundred sessions take a minute there
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
