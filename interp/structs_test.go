package interp_test

import (
	"context"
	"strings"
	"testing"
)

// A list or a map of structs is also a table, and JSON is its text.
func TestStructs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in, text string
		html           []string // parts of the table, in order; nil for no table
	}{
		{"structs", "type P struct{ X, Y int }\n[]P{{1, 2}, {3, 4}}", "[{X:1 Y:2} {X:3 Y:4}]", []string{"<th", "X", "Y", "1", "2", "3", "4", "</table>"}},
		{"an array", "type P struct{ X int }\n[1]P{{5}}", "[{X:5}]", []string{"X", "5"}},
		{"a named list", "type P struct{ X int }\ntype L []P\nL{{5}}", "[{X:5}]", []string{"X", "5"}},
		{"without a name", "[]struct{ A string }{{\"<b>\"}}", "[{A:<b>}]", []string{"A", "&lt;b&gt;"}},
		{"a map", "type P struct{ X int }\nmap[string]P{\"b\": {2}, \"a\": {1}}", "map[a:{X:1} b:{X:2}]", []string{"key", "X", "a", "1", "b", "2"}},
		{"pointers", "type P struct{ X int }\n[]*P{{1}, nil, {2}}", "", []string{"X", "1", "2"}},
		{"a map of structs with String", "type P struct{ X int }\nfunc (P) String() string { return \"p\" }\nmap[string]P{\"a\": {1}}", "map[a:p]", nil},
		{"an empty map", "type P struct{ X int }\nmap[string]P{}", "map[]", nil},
		{"a map of numbers", "map[string]int{\"a\": 1}", "map[a:1]", nil},
		{"of a package", "[]image.Point{{1, 2}}", "[(1,2)]", nil},
		{"unexported fields of a package", "[]sync.WaitGroup{{}}", "", nil},
		{"times", "[]time.Time{time.Unix(0, 0).UTC()}", "[1970-01-01 00:00:00 +0000 UTC]", nil},
		{"own String", "type P struct{ X int }\nfunc (P) String() string { return \"p\" }\n[]P{{1}}", "[p]", nil},
		{"own Error", "type P struct{ X int }\nfunc (P) Error() string { return \"p\" }\n[]P{{1}}", "[p]", nil},
		{"String of the list", "type P struct{ X int }\ntype L []P\nfunc (L) String() string { return \"l\" }\nL{{1}}", "l", nil},
		{"empty", "type P struct{ X int }\n[]P{}", "[]", nil},
		{"nil", "type P struct{ X int }\n[]P(nil)", "[]", nil},
		{"no fields", "[]struct{}{{}}", "[{}]", nil},
		{"numbers", "[]int{1}", "[1]", nil},
		{"one struct", "struct{ A int }{1}", "{A:1}", nil},
		{"several values", "[]struct{ A int }{{1}}, 2", "[{A:1}], 2", nil},
		{"JSON", "json.RawMessage(`{\"a\": [1]}`)", "{\"a\": [1]}", nil},
		{"no JSON", "json.RawMessage(\"{\")", "[123]", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			result, err := n.Execute(context.Background(), 1, row.in)
			if err != nil {
				t.Fatal(err)
			}
			if text := result.Data["text/plain"]; row.text != "" && text != row.text {
				t.Errorf("got %s, want %s", text, row.text)
			}
			html, _ := result.Data["text/html"].(string)
			if (html != "") != (row.html != nil) {
				t.Errorf("HTML is %q", html)
			}
			for _, part := range row.html {
				_, after, ok := strings.Cut(html, part)
				if !ok {
					t.Errorf("%q is missing in %q", part, html)
				}
				html = after
			}
		})
	}
	n := newNotebook(t)
	result, err := n.Execute(context.Background(), 1, "type P struct{ X int }\nlist := make([]P, 100000)\nlist")
	if html, _ := result.Data["text/html"].(string); err != nil || len(html) == 0 || len(html) > 20000 {
		t.Errorf("%d bytes of HTML, %v", len(html), err)
	}
}

// TestTypeThatMentionsItself uses the fields of a type that mentions itself.
func TestTypeThatMentionsItself(t *testing.T) {
	t.Parallel()
	const declarations = `type S string
type N int
type scope struct {
	outer  *scope
	labels []S
	m      map[S]N
	a      [2]N
	n      N
	ch     chan S
	f      func(S) N
}
s, label, k := &scope{labels: []S{"a", "b"}, m: map[S]N{"a": 1}, a: [2]N{1, 4}, n: 2, ch: make(chan S, 1), f: func(s S) N { return N(len(s)) }}, S("b"), N(1)`
	for _, row := range []struct{ in, want string }{
		{"for i, v := range s.labels {\n\tfmt.Print(i, v == label, v+label, \" \")\n}", "0 falseab 1 truebb "},
		{"for v, n := range s.m {\n\tfmt.Print(v == label, n == k)\n}", "false true"},
		{"for _, v := range s.a {\n\tfmt.Print(v == k, v*k, \" \")\n}", "true 1 false 4 "},
		{"var v S\nfor _, v = range s.labels {\n\tfmt.Print(v == label, \" \")\n}", "false true "},
		{"for i := range s.n {\n\tfmt.Print(i == k, \" \")\n}", "false true "},
		{"fmt.Print(s.f(label) == k, s.f(label)+k, append(s.labels, label)[2] == label)", "true 2 true"},
		{"s.ch <- label\nfmt.Print(<-s.ch == label)", "true"},
		{"p := &s.a\nfmt.Print(p[:1][0] == k, s.m[label], (&scope{a: s.a}).a[:][1]*k)", "true 0 4"},
		{"fs := reflect.StructField{Index: []int{4, 5}}\nfmt.Print([]int{-fs.Index[0] - 1, 3 - fs.Index[1]}, append([]int{-fs.Index[0] * 2}, fs.Index...))", "[-5 -2] [-8 4 5]"},
	} {
		n := newNotebook(t)
		n.must(t, declarations, "")
		n.must(t, "func run() {\n"+row.in+"\n}\nrun()", row.want)
	}
}
