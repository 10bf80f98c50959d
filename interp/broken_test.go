package interp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/interp"
)

// A cell that is not valid Go shows all its errors, each with its position in the cell, its line
// and a caret. The plain text and the colored text differ only in the colors.
func TestBroken(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/broken.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range archive.Files {
		src := string(f.Data)
		if f.Name == "carriage returns" {
			src = strings.ReplaceAll(src, "\n", "\r\n")
		}
		n := newNotebook(t)
		_, err := n.Execute(context.Background(), 1, src)
		var e *interp.Error
		if !errors.As(err, &e) {
			fmt.Fprintf(&all, "-- %s --\n%v\n", f.Name, err)
			continue
		}
		text := color.ReplaceAllString(strings.Join(e.Traceback, "\n"), "")
		fmt.Fprintf(&all, "-- %s --\n%s\n", f.Name, text)
		if e.Name == "compile error" && e.Value != text {
			t.Errorf("%s: the value is\n%s\nand the traceback\n%s", f.Name, e.Value, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "cell[") && !strings.HasPrefix(line, "cell[1]:") || strings.Contains(line, "found '}'") && !strings.Contains(src, "}") {
				t.Errorf("%s: %s", f.Name, line)
			}
		}
		n.Close()
	}
	golden.Check(t, "broken.golden", []byte(all.String()))
}
