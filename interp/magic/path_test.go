package magic

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

// In the rows of TestPathAt, | is the cursor.
func TestPathAt(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"data/train.csv", "data/test.csv", "docs/a.md", ".hidden/x", "größe.txt"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, row := range []struct {
		in   string
		word string // what is replaced
		want string // separated by spaces; - is no path at all
	}{
		{"%cd |", "", "data/ docs/"},
		{"%cd d|", "d", "data/ docs/"},
		{"%cd data/|", "data/", ""},
		{"%cd \"do|", "do", "docs/"},
		{"%cd .h|", ".h", ".hidden/"},
		{"!cat data/t|", "data/t", "data/test.csv data/train.csv"},
		{"!cat gr|", "gr", "größe.txt"},
		{"!cat <data/te|", "data/te", "data/test.csv"},
		{"!ca|", "", "-"},
		{"!data/te|", "data/te", "data/test.csv"},
		{"!cat nowhere/|", "nowhere/", ""},
		{"%%bash\nls\ncat do|", "do", "docs/"},
		{"!ls\nd|", "", "-"},
		{"x := 1\n%c|", "", "-"},
	} {
		offset := strings.IndexByte(row.in, '|')
		src := row.in[:offset] + row.in[offset+1:]
		start, names, ok := PathAt(src, offset, func(string) bool { return false })
		if ok != (row.want != "-") {
			t.Errorf("%q: %t", row.in, ok)
		}
		if !ok {
			continue
		}
		if got := src[start:offset]; got != row.word {
			t.Errorf("%q: replaces %q, want %q", row.in, got, row.word)
		}
		if want := strings.Fields(row.want); !slices.Equal(names, want) && len(names)+len(want) > 0 {
			t.Errorf("%q: got %q, want %q", row.in, names, want)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		testenv.Missing(t, "no home directory: %v", err)
	}
	if entries, err := os.ReadDir(home); err == nil {
		names := Files("~/", false)
		if len(names) > len(entries) || len(names) > 0 && !strings.HasPrefix(names[0], "~/") {
			t.Errorf("the home directory has %q", names)
		}
	}
}
