package magic

import (
	"strings"
	"testing"
)

func TestSelects(t *testing.T) {
	for _, row := range []struct {
		query string
		want  bool
	}{
		{"", true}, {"latest", true}, {"v1.6.0", true}, {"v1", true}, {"v1.6", true},
		{"v1.60", false}, {"v1.6.1", false}, {"v2", false}, {"main", false}, {"v1.", false}, {"v", false},
	} {
		if got := selects(row.query, "v1.6.0"); got != row.want {
			t.Errorf("%q: got %v", row.query, got)
		}
	}
}

func TestCompiledModule(t *testing.T) {
	versions := map[string]string{"gonum.org/v1/gonum": "v0.17.0", "gonum.org/v1/plot": "v0.16.0"}
	for path, want := range map[string]string{"gonum.org/v1/gonum": "v0.17.0", "gonum.org/v1/plot/vg/draw": "v0.16.0", "gonum.org/v1": "", "fmt": ""} {
		if got, ok := compiledModule(path, versions); got.Version != want || ok != (want != "") {
			t.Errorf("%s: got %v, %v", path, got, ok)
		}
	}
}

// TestGetAddress gives a module by an address. The error has neither a password nor a token.
func TestGetAddress(t *testing.T) {
	for query, want := range map[string]string{
		"https://github.com/owner/name":                          "%get github.com/owner/name;",
		"https://user:s3cret@github.com/owner/name.git":          "%get github.com/owner/name;",
		"git+ssh://s3cret@gitlab.com/a/b/c":                      "%get gitlab.com/a/b/c;",
		"https://user:s3/cret@github.com/owner/name":             "%get github.com/owner/name;",
		"https://user:12/s3cret@github.com/owner/name":           "%get github.com/owner/name;",
		"https://s3cret.example.org:8080/a":                      "%get github.com/owner/name;",
		"user:s3cret@github.com/owner/name":                      "%get github.com/owner/name;",
		"s3cret@github.com/owner/name":                           "%get github.com/owner/name;",
		"git@github.com:owner/s3cret.git":                        "%get github.com/owner/name;",
		"github.com/owner/name?token=s3cret":                     "%get github.com/owner/name;",
		compiledFlag + " https://user:s3cret@github.com/owner/x": "%get github.com/owner/x;",
	} {
		if _, err := oneModule(query); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
	for _, query := range []string{"github.com/owner/name@v1.0.0", "github.com/owner/name@feature/x.y", "numpy@1.2.3", "./a:b", "../x@y/z.w"} {
		if m, err := oneModule(query); err != nil || m.Query != query {
			t.Errorf("%s: got %v, %v", query, m, err)
		}
	}
}
