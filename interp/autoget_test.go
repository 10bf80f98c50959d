package interp_test

import (
	"strings"
	"testing"

	"github.com/quernlab/quern/interp/symbols"
)

func TestAutoget(t *testing.T) {
	t.Parallel()
	files := modules(t, map[string]string{
		"example.com/a@v1.0.0/go.mod":    "module example.com/a\nrequire example.com/b v1.0.0",
		"example.com/a@v1.0.0/a.go":      "package a\n\nimport \"example.com/b\"\n\nconst X = b.X + 1",
		"example.com/a@v1.0.0/sub/s.go":  "package sub\n\nconst X = 5",
		"example.com/b@v1.0.0/go.mod":    "module example.com/b",
		"example.com/b@v1.0.0/b.go":      "package b\n\nconst X = 2",
		"example.com/c@v1.0.0/go.mod":    "module example.com/c",
		"example.com/c@v1.0.0/in/c/c.go": "package c\n\nconst X = 3",
		"example.com/e@v1.0.0/go.mod":    "module example.com/e",
		"example.com/e@v1.0.0/e.go":      "package e\n\nconst X = 4",
	})
	n := newNotebook(t, files)
	const downloaded = "stderr: note: %autoget has downloaded "
	missing := func(got string) bool {
		return strings.Contains(got, "add the line %get example.com/e, or %autoget on for all imports")
	}
	if got := n.run("import \"example.com/e\"\ne.X"); !missing(got) {
		t.Error(got)
	}
	for _, row := range []struct{ in, want string }{
		{"%autoget on", ""},
		{"import \"example.com/a\"\na.X", downloaded + "example.com/a v1.0.0\n= 3"},
		{"import (\n\t\"fmt\"\n\t\"example.com/a/sub\"\n\t\"example.com/b\"\n)\nfmt.Println(sub.X, b.X)", "5 2\n"},
		{"import f \"example.com/c/in/c\"\nf.X", downloaded + "example.com/c v1.0.0\n= 3"},
		{"import \"example.com/none\"", "! compile error: cell[6]:1:1: %autoget example.com/none: "},
		{"import \"./x\"\n1", "! compile error: cell[7]:1:8: "},
		{"import \"example.com/e\"\nundefinedName", downloaded + "example.com/e v1.0.0\n! compile error: cell[8]:2:1: undefined: undefinedName\n    undefinedName\n    ^"},
		{"%autoget off\nundefinedName", "! compile error: cell[9]:2:1: undefined: undefinedName\n    undefinedName\n    ^"},
		{"%autoget off\n1", "= 1"},
		{"%autoget", "! compile error: cell[11]:1:1: %autoget needs on or off, but has \"\"\n    %autoget\n    ^"},
		{"%autoget onn", "! compile error: cell[12]:1:1: %autoget needs on or off, but has \"onn\"\n    %autoget onn\n    ^"},
	} {
		if got := n.run(row.in); got != row.want && !(strings.HasSuffix(row.want, ": ") && strings.HasPrefix(got, row.want)) {
			t.Errorf("%q\n got %q\nwant %q", row.in, got, row.want)
		}
	}
	// The cell that did not compile has removed its module.
	if got := n.run("import \"example.com/e\"\ne.X"); !missing(got) {
		t.Error(got)
	}
	n.must(t, "%autoget on\nimport \"example.com/e\"\ne.X", downloaded+"example.com/e v1.0.0\n= 4")
}

func TestExperiments(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	for _, row := range []struct{ in, want string }{
		{"import \"encoding/json/v2\"", "package \"encoding/json/v2\" needs GOEXPERIMENT=jsonv2"},
		{"import \"encoding/json/jsontext\"\nvar v jsontext.Value", "package \"encoding/json/jsontext\" needs GOEXPERIMENT=jsonv2"},
		{"import \"arena\"\narena.NewArena()", "package \"arena\" needs GOEXPERIMENT=arenas"},
		{"import \"simd/archsimd\"", "package \"simd/archsimd\" needs GOEXPERIMENT=simd"},
		{"import \"runtime/secret\"", "package \"runtime/secret\" needs GOEXPERIMENT=runtimesecret"},
		{"arena.NewArena()", "undefined: arena; its package needs GOEXPERIMENT=arenas"},
		{"x := jsontext.Value(nil)", "undefined: jsontext; its package needs GOEXPERIMENT=jsonv2"},
	} {
		if strings.Contains(row.want, "jsonv2") && symbols.Has("encoding/json/v2") {
			continue // no longer an experiment
		}
		if got := n.run(row.in); !strings.Contains(got, row.want) {
			t.Errorf("%s: got %s, want %s", row.in, got, row.want)
		}
	}
}
