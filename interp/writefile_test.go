package interp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	name := filepath.ToSlash(filepath.Join(t.TempDir(), "a b.txt"))
	n := newNotebook(t)
	for _, row := range []struct{ in, want string }{
		{"%%writefile " + name + "\n%who\nx := \"\n", "wrote " + name + "\n"},
		{"%%writefile -a \"" + name + "\"\nmore", "appended to " + name + "\n"},
		{"%%writefile", "! compile error: cell[3]:1:1: %%writefile needs the name of a file: %%writefile [-a] file\n    %%writefile\n    ^"},
		{"%%writefile -a\nx", "! compile error: cell[4]:1:1: %%writefile needs the name of a file: %%writefile [-a] file\n    %%writefile -a\n    ^"},
		{"!*pwd", "! compile error: cell[5]:1:1: there is no folder of generated code in which !*pwd could run: !pwd runs in the working directory, and %get downloads a module\n    !*pwd\n    ^"},
		{"//gonb:%exec f\nx := 1", "! compile error: cell[6]:1:1: a command in a comment does not run: write %exec f in a line of its own\n    //gonb:%exec f\n    ^"},
		{"s := `\n//gonb:%exec f`\nlen(s)", "= 15"},
	} {
		if got := n.run(row.in); got != row.want {
			t.Errorf("%q: got %s, want %s", row.in, got, row.want)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "%who\nx := \"\nmore" {
		t.Errorf("%q, %v", got, err)
	}
	if got := n.run("%%writefile " + name + "/x\n"); !strings.HasPrefix(got, "! error: %%writefile: ") {
		t.Error(got)
	}
}
