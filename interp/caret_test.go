package interp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/interp"
)

// The caret is below the first column of the undefined name, whatever text is before it. Each row
// has the expected column of the terminal; the columns of wide characters were counted by hand.
func TestCaret(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, line string
		column     int
	}{
		{"ASCII", `x := "abc" + none`, 13},
		{"tabs", "\t\tx :=\t1 + none", 11},
		{"accents of one code point", `x := "äöü" + none`, 13},
		{"Chinese", `x := "日本語" + none`, 16},
		{"Korean", `x := "한글" + none`, 14},
		{"full width", `x := "Ａ１" + none`, 14},
		{"half width", `x := "ｱｲ" + none`, 12},
		{"combining", "x := \"e\u0301a\u0308\" + none", 12},
		{"emoji", `x := "😀" + none`, 12},
		{"emoji of a family", "x := \"\U0001F469\u200D\U0001F469\u200D\U0001F467\" + none", 12},
		{"emoji with a tone", "x := \"\U0001F44D\U0001F3FD\" + none", 12},
		{"flag", "x := \"\U0001F1E9\U0001F1EA\" + none", 12},
		{"joiner", "x := \"a\u200Bb\" + none", 12},
		{"wide name", `語 := 1 + none`, 10},
		{"comment", `x := 1 /* 日本 */ + none`, 20},
		{"mixed", "\t日\t:= \"e\u0301😀é\" + none", 16},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := newNotebook(t).Execute(context.Background(), 1, row.line)
			var e *interp.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			plain := strings.Split(e.Value, "\n")
			if len(plain) != 3 || len(e.Traceback) != 3 {
				t.Fatalf("got %q and %q", plain, e.Traceback)
			}
			want := "    " + strings.Repeat(" ", row.column)
			if got := plain[2]; got != want+"^" {
				t.Errorf("got\n%s\n%s\nwant\n%s^", plain[1], got, want)
			}
			if got := e.Traceback[2]; got != want+"\x1b[1m^\x1b[0m" {
				t.Errorf("in color %q", got)
			}
		})
	}
}
