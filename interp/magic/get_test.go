package magic

import "testing"

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
