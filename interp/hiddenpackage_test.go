package interp_test

import (
	"slices"
	"strings"
	"testing"
)

// TestPackageNames runs cells in which a variable has the name of the package from which it comes.
func TestPackageNames(t *testing.T) {
	t.Parallel()
	for _, row := range hiddenPackageRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := newNotebook(t)
			for i, src := range strings.Split(row.in, "\n---\n") {
				n.must(t, src, row.want[i])
			}
		})
	}
}

var hiddenPackageRows = []struct {
	name, in string
	want     []string
}{
	{"run again", "url, err := url.Parse(\"http://a/b/c\")\nfmt.Println(url, err)\n---\nurl, err := url.Parse(\"other\")\nfmt.Println(url, err)\n---\nurl, err := url.Parse(\"third\")\nfmt.Println(url, err)", []string{"http://a/b/c <nil>\n", "other <nil>\n", "third <nil>\n"}},
	{"other type", "list := list.New()\nlist.PushBack(1)\nlist.Len()\n---\nlist := list.New()\nlist.PushBack(1)\nlist.Len()", []string{"= 1", "= 1"}},
	{"function of the package with its arguments", "rand := rand.New(rand.NewSource(1))\n_ = rand.Intn(3)\n---\nrand := rand.New(rand.NewSource(1))\n_ = rand.Intn(3)", []string{"", ""}},
	{"inside an expression", "template := template.Must(template.New(\"a\").Parse(\"x\"))\ntemplate.Name()\n---\ntemplate := template.Must(template.New(\"b\").Parse(\"x\"))\ntemplate.Name()", []string{"= \"a\"", "= \"b\""}},
	{"declaration", "var list = list.New()\nlist.Len()\n---\nvar list = list.New()\nlist.Len()", []string{"= 0", "= 0"}},
	{"declaration of two", "var url, err = url.Parse(\"http://a/b\")\nfmt.Println(url, err)\n---\nvar url, err = url.Parse(\"c\")\nfmt.Println(url, err)", []string{"http://a/b <nil>\n", "c <nil>\n"}},
	{"block of declarations", "var (\n\tn = 2\n\ttime = time.Unix(int64(n), 0).UTC()\n)\ntime.Second()\n---\nn++\nvar (\n\tm = 2\n\ttime = time.Unix(int64(m), 0).UTC()\n)\ntime.Second()", []string{"= 2", "= 2"}},
	{"several on the left", "time, n := time.Unix(1, 0).UTC(), 2\ntime.Second() + n\n---\ntime, n := time.Unix(3, 0).UTC(), 4\ntime.Second() + n", []string{"= 3", "= 7"}},
	{"statements before the definition", "a := strings.ToUpper(\"a\")\nstrings := []string{a}\nstrings\n---\nb := strings.ToUpper(\"b\")\nstrings := []string{b}\nstrings", []string{"= [A]", "= [B]"}},
	{"in a function literal", "list := func() int { return list.New().Len() }()\nlist\n---\nlist := func() int { return list.New().Len() }()\nlist", []string{"= 0", "= 0"}},
	{"variable as an argument", "time := time.Unix(5, 0).UTC()\n---\ntime := time.Add(0)\ntime.Second()", []string{"", "= 5"}},
	{"method on the right", "url, _ := url.Parse(\"http://a/b\")\n---\nu := url.JoinPath(\"c\")\nfmt.Println(u)", []string{"",
		"http://a/b/c\nstderr: note: 1:6: url.JoinPath belongs to the variable url of an earlier cell, which hides package \"net/url\": rename the variable, or import the package under another name, such as import urlpkg \"net/url\"\n"}},
	{"assignment", "url, _ := url.Parse(\"http://a/b\")\n---\nurl = url.ResolveReference(url)\nfmt.Println(url)", []string{"", "http://a/b\n"}},
	{"variable that is no result of the package", "type T struct{}\nfunc (T) Parse(s string) (string, error) { return \"mine \" + s, nil }\nurl := T{}\n---\nurl, _ := url.Parse(\"x\")\nurl", []string{"",
		"stderr: note: 1:11: url.Parse belongs to the variable url of an earlier cell, which hides package \"net/url\": rename the variable, or import the package under another name, such as import urlpkg \"net/url\"\n= \"mine x\""}},
	{"method value", "time := time.Unix(7, 0).UTC()\n---\nfunc() bool { f := time.Second; return f() == 7 }()", []string{"",
		"stderr: note: 1:20: time.Second belongs to the variable time of an earlier cell, which hides package \"time\": rename the variable, or import the package under another name, such as import timepkg \"time\"\n= true"}},
	{"method value in the same cell", "time := time.Unix(7, 0).UTC()\nfunc() bool { f := time.Second; return f() == 7 }()", []string{
		"stderr: note: 2:20: time.Second belongs to the variable time of this cell, which hides package \"time\": rename the variable, or import the package under another name, such as import timepkg \"time\"\n= true"}},
	{"missing in a later cell", "list := list.New()\n---\nl := list.New()", []string{"",
		"! compile error: cell[2]:1:11: list.New undefined (type *list.List has no field or method New)\n    l := list.New()\n              ^\n    list is a variable of an earlier cell: import \"container/list\" in a cell to use the package"}},
	{"missing in the same cell", "list := list.New()\nl := list.New()", []string{
		"! compile error: cell[1]:2:11: list.New undefined (type *list.List has no field or method New)\n    l := list.New()\n              ^\n    list hides package \"container/list\" in this cell: rename the variable, or import the package under another name, such as import listpkg \"container/list\""}},
	{"function with the name of a package", "func strings() {}\n---\nstrings.ToUpper(\"a\")", []string{"",
		"! compile error: cell[2]:1:9: strings.ToUpper undefined (type func() has no field or method ToUpper)\n    strings.ToUpper(\"a\")\n            ^\n    strings is a function of an earlier cell: import \"strings\" in a cell to use the package"}},
	{"import and run again", "import \"container/list\"\nlist := list.New()\nlist.Len()\n---\nimport \"container/list\"\nlist := list.New()\nlist.Len()", []string{"= 0", "= 0"}},
	{"import in an earlier cell", "import \"container/list\"\n---\nlist := list.New()\n---\nlist := list.New()\nlist.Len()", []string{"", "", "= 0"}},
	{"chosen by an import", "import \"text/template\"\n---\ntemplate := template.Must(template.New(\"a\").Parse(\"<{{.}}>\"))\n---\ntemplate := template.Must(template.New(\"a\").Parse(\"<{{.}}>\"))\nfmt.Printf(\"%T\", template)", []string{"", "", "*template.Template"}},
	{"function that is compiled again", "func k() int { return 1 }\nfunc f() string { u, _ := url.Parse(\"http://a/b\"); return u.Host + fmt.Sprint(k()) }\nf()\n---\nurl := \"x\"\n---\nfunc k() float64 { return 2.5 }\nf()\n---\nfunc k() int { return 3 }\nurl := 4\nf() + fmt.Sprint(url)", []string{"= \"a1\"", "", "= \"a2.5\"", "= \"a34\""}},
	{"block in a later cell", "url, _ := url.Parse(\"http://a/b\")\n---\nfor range 1 { url, _ := url.Parse(\"c\"); fmt.Println(url) }", []string{"",
		"http://a/c\nstderr: note: 1:25: url.Parse belongs to the variable url of an earlier cell, which hides package \"net/url\": rename the variable, or import the package under another name, such as import urlpkg \"net/url\"\n"}},
	{"block, run again", "for range 1 { url, _ := url.Parse(\"c\"); fmt.Println(url) }\n---\nfor range 1 { url, _ := url.Parse(\"c\"); fmt.Println(url) }", []string{"c\n", "c\n"}},
	{"variable that is its own operand", "x := 1\nfmt.Print(x)\n---\nx := x + 1\nx\n---\nx := []int{x}\nx", []string{"1", "= 2", "= [2]"}},
	{"variable and package in one statement", "time := time.Unix(1, 0)\n---\ntime := time.Add(2 * time.Second)", []string{"",
		"! compile error: cell[2]:1:18: invalid operation: 2 * time.Second (mismatched types untyped int and func() int)\n    time := time.Add(2 * time.Second)\n                     ^\n    time.Second belongs to the variable time of an earlier cell, which hides package \"time\": rename the variable, or import the package under another name, such as import timepkg \"time\""}},
	{"evaluated after another type", "list := list.New()\n---\nlist := []int{1}\n---\nlist := list.New()\nlist.Len()", []string{"", "", "= 0"}},
}

// TestToolsOfHiddenPackages completes and inspects names of packages in cells that run again.
func TestToolsOfHiddenPackages(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, "list := list.New()\nurl, _ := url.Parse(\"http://a\")", "")
	for _, row := range []struct{ in, want, not string }{
		{"list := list.|", "New", "PushBack"},
		{"list := list.Ne|", "New", ""},
		{"url, err := url.|", "QueryEscape Parse", "Hostname"},
		{"list.|", "PushBack", "New"},
		{"n := list.|", "PushBack", "New"},
		{"list := list.New()\nlist.|", "PushBack", "New"},
	} {
		got := texts(n.completeAt(t, row.in))
		for _, w := range strings.Fields(row.want) {
			if !slices.Contains(got, w) {
				t.Errorf("%q: no %s in %.300q", row.in, w, got)
			}
		}
		for _, w := range strings.Fields(row.not) {
			if slices.Contains(got, w) {
				t.Errorf("%q: %s in %.300q", row.in, w, got)
			}
		}
	}
	for in, want := range map[string]string{"list := list.Ne|w()": "func list.New() *list.List", "url, err := url.Par|se(\"b\")": "func url.Parse(", "list.Le|n()": "Len() int"} {
		offset := strings.Index(in, "|")
		data := n.Inspect(in[:offset]+in[offset+1:], offset, 0)
		if text, _ := data["text/plain"].(string); !strings.Contains(text, want) {
			t.Errorf("%q: no %q in %q", in, want, text)
		}
	}
}
