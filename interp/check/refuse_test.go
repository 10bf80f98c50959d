package check

import (
	"fmt"
	"go/importer"
	"go/token"
	"strings"
	"testing"
)

func TestRejectDirectives(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"embed", "import _ \"embed\"\n//go:embed a.txt\nvar text string",
			"cell[1]:2:1: go:embed is not supported, because a cell has no source directory: read the file with os.ReadFile, or use os.DirFS for a directory"},
		{"embed, with a tab", "//go:embed\ta.txt\nvar text string",
			"cell[1]:1:1: go:embed is not supported, because a cell has no source directory: read the file with os.ReadFile, or use os.DirFS for a directory"},
		{"linkname", "//go:linkname now runtime.nanotime\nfunc now() int64 { return 1 }",
			"cell[1]:1:1: go:linkname is not supported: a cell can only use the exported names of a package"},
		{"directives without effect on the meaning", "//go:noinline\nfunc f() int { return 1 }\n//go:generate stringer\nf()", ""},
		{"a comment about it", "// go:embed is another thing\nx := \"//go:embed a\"", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := newTestChecker().Check(t.Context(), 1, row.in)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("%s\n got %s\nwant %s", row.in, got, row.want)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"function", "import \"strings\"\nstrings.ToUpper(\"a\")", "cell[1]:2:9: strings.ToUpper is not supported: no capitals"},
		{"as a value", "import \"strings\"\nf := []any{strings.ToUpper}", "cell[1]:2:20: strings.ToUpper is not supported: no capitals"},
		{"dot import", "import . \"strings\"\nToUpper(\"a\")", "cell[1]:2:1: strings.ToUpper is not supported: no capitals"},
		{"in a function", "import \"strings\"\nfunc f() string { return strings.ToUpper(\"a\") }", "cell[1]:2:34: strings.ToUpper is not supported: no capitals"},
		{"field", "import \"net/http\"\n_ = http.Server{Addr: \"\"}", "cell[1]:2:17: http.Addr is not supported: no addresses"},
		{"all of them", "import \"strings\"\nx := strings.ToUpper(\"a\")\ny := strings.ToUpper(x)",
			"cell[1]:2:14: strings.ToUpper is not supported: no capitals\ncell[1]:3:14: strings.ToUpper is not supported: no capitals"},
		{"a method of the name", "import \"net\"\nvar c net.Listener\nc.Addr()", ""},
		{"a name of the cell", "type strings struct{ ToUpper int }\n_ = strings{}.ToUpper", ""},
		{"another function", "import \"strings\"\nstrings.ToLower(\"a\")", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := New(importer.Default(), token.NewFileSet(), Refuse(func(path, name string) string {
				switch path + "." + name {
				case "strings.ToUpper":
					return "no capitals"
				case "net/http.Addr", "net.Addr":
					return "no addresses"
				}
				return ""
			}))
			_, err := c.Check(t.Context(), 1, row.in)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("%s\n got %s\nwant %s", row.in, got, row.want)
			}
		})
	}
}

// Package reflect has no function types with more than 128 parameters, results and receivers.
func TestRejectLongSignatures(t *testing.T) {
	t.Parallel()
	parameters := func(n int) string { return strings.TrimSuffix(strings.Repeat("_, ", n), ", ") + " int" }
	for name, row := range map[string]struct {
		in      string // with %s for the parameters
		most    int
		message string
	}{
		"function":        {"func f(%s) int { return 1 }", 127, "cell[1]:1:1: a function with 129 parameters and results is"},
		"results":         {"type T func(a string) (%s)", 127, "cell[1]:1:8: a function with 129 parameters and results is"},
		"literal":         {"f := func(%s) {}", 128, "cell[1]:1:6: a function with 129 parameters and results is"},
		"method":          {"type T struct{}\nfunc (t T) m(%s) int { return 1 }", 126, "cell[1]:2:1: a function with 129 parameters and results, the receiver included, is"},
		"interface":       {"type I interface { m(%s) int }", 127, "cell[1]:1:21: a function with 129 parameters and results is"},
		"generic":         {"func f[T any](t T, %s) {}", 127, "cell[1]:1:1: a function with 129 parameters and results is"},
		"in another type": {"var m map[string][]func(%s)", 128, "cell[1]:1:20: a function with 129 parameters and results is"},
	} {
		if _, err := newTestChecker().Check(t.Context(), 1, fmt.Sprintf(row.in, parameters(row.most))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := newTestChecker().Check(t.Context(), 1, fmt.Sprintf(row.in, parameters(row.most+1)))
		if err == nil || err.Error() != row.message+" not supported: the limit is 128; pass a struct or a slice" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
