package parameter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/quernlab/quern/kernel/notebook"
	"github.com/quernlab/quern/kernel/notebook/parameter"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want, err string }{
		{"x=3", "3", ""},
		{"x=-0x1p-2", "-0x1p-2", ""},
		{"x=+1_000", "+1_000", ""},
		{"x='?'", "'?'", ""},
		{"x=2i", "2i", ""},
		{"x=true", "true", ""},
		{`x="a\tb"`, `"a\tb"`, ""},
		{"x=", `""`, ""},
		{"x=ann", `"ann"`, ""},
		{"x=a=b", `"a=b"`, ""},
		{"x=nil", `"nil"`, ""},
		{"x=os.Getenv(`HOME`)", "\"os.Getenv(`HOME`)\"", ""},
		{"x=-true", `"-true"`, ""},
		{"x=1+2", `"1+2"`, ""},
		{"x=(1)", `"(1)"`, ""},
		{"x=<-c", `"<-c"`, ""},
		{"x=[]int{1, 2,\n}", "[]int{1, 2}", ""},
		{"x=[2]string{1: `a`}", `[2]string{1: "a"}`, ""},
		{"x=[...]bool{true}", "[...]bool{true}", ""},
		{"x=map[string][]float64{`a`: {1, -.5}, \"b\": nil}", `map[string][]float64{"a": {1, -.5}, "b": nil}`, ""},
		{"x=[]any{1, `a`, []interface{}{}}", `[]any{1, "a", []interface{}{}}`, ""},
		{"x=Options{Rate: 1, Names: []string{`a`}}", `Options{Rate: 1, Names: []string{"a"}}`, ""},
		{"x=image.Point{1, 2}", "image.Point{1, 2}", ""},
		// No part of the value is at the start of a line, where it could be a magic
		// command.
		{"x=`\n%%sh\ntouch /tmp/owned\n`", `"\n%%sh\ntouch /tmp/owned\n"`, ""},
		{"x=[]string{`\n!touch /tmp/owned`}", `[]string{"\n!touch /tmp/owned"}`, ""},
		{"x=[]int{1, // two\n2}", "[]int{1, 2}", ""},
		{"x=3\n!touch /tmp/owned", `"3\n!touch /tmp/owned"`, ""},
		{"x=3 // comment", "3", ""},
		{"x=3;os.Exit(1)", `"3;os.Exit(1)"`, ""},
		{"x=\u2028!touch", `"\u2028!touch"`, ""},

		{`x=[]string{func() string { return "owned" }()}`, "", "a call or conversion"},
		{`x=[]string{os.Getenv("HOME")}`, "", "a call or conversion"},
		{`x=map[string]int{f(): 1}`, "", "a call or conversion"},
		{`x=map[string]int{"a": f()}`, "", "a call or conversion"},
		{`x=[len(f())]int{}`, "", "an array whose length is not a number"},
		{`x=[N]int{}`, "", "an array whose length is not a number"},
		{`x=[][]int{{f()}}`, "", "a call or conversion"},
		{`x=[]func(){func() {}}`, "", "a function"},
		{`x=[]int{<-c}`, "", "the operator <-"},
		{`x=[]*int{&y}`, "", "a function|the type of|the operator &"},
		{`x=[]int{y}`, "", "the name y"},
		{`x=[]int{y.z}`, "", "a name of a package or a field"},
		{`x=[]int{1 + 1}`, "", "an operator"},
		{`x=[]int{(1)}`, "", "parentheses"},
		{`x=[]struct{ A int }{{1}}`, "", "a struct without a name"},
		{`x=T[int]{}`, "", "code"},
		{`x=[]interface{ M() }{}`, "", "an interface with methods"},
		{`x=f([]int{1})`, "", "a call or conversion"},
		{`x=func() {}`, "", "a function"},
		{`x=func() string { return "owned" }()`, "", "a call or conversion"},
		{`x=[]int{1}[0]`, "", "code"},
		{`x=Options{f(): 1}`, "", "a call or conversion"},

		{"x", "", "name=value"},
		{"=1", "", "name=value"},
		{"x, os.Args=1", "", "name=value"},
		{"x()=1", "", "name=value"},
		{"func=1", "", "name=value"},
		{"_=1", "", "name=value"},
	} {
		p, err := parameter.Parse(row.text)
		switch {
		case row.err == "" && (err != nil || p.Literal != row.want || p.Name != "x"):
			t.Errorf("%s: got %v, %v, want %s", row.text, p, err, row.want)
		case row.err != "" && (err == nil || !containsAny(err.Error(), row.err)):
			t.Errorf("%s: got %v, %v, want an error with %q", row.text, p, err, row.err)
		}
		if strings.ContainsAny(p.Literal, "\n\r") {
			t.Errorf("%s: %q has more than one line", row.text, p.Literal)
		}
	}
}

func containsAny(text, alternatives string) bool {
	for a := range strings.SplitSeq(alternatives, "|") {
		if strings.Contains(text, a) {
			return true
		}
	}
	return false
}

func TestInjectChecksTypes(t *testing.T) {
	t.Parallel()
	const cell = `// What to train with.
rate, name := 0.5, "nobody"
var steps uint8 = 3
var sizes []int
var mixed any
const fixed = 1
other := fromAnotherCell()
wait := time.Second`
	for text, want := range map[string]string{
		"rate=1": "", "name=ann": "", "steps=255": "", "sizes=[]int{1}": "", "mixed=ann": "", "other=1": "", "wait=1": "",
		"elsewhere=1": "", "sizes=Sizes{1}": "", `name="3"`: "",
		"rate=ann": `cannot use "ann"`, "name=3": `--param 'name="3"'`, "steps=256": "overflows", "steps=-1": "overflows", "steps=1.5": "truncated",
		"sizes=[]string{}": "cannot use []string{}", "sizes=[]int{true}": "cannot use true", "fixed=2": "cannot assign",
		"sizes=[1]int{1, 2}": "out of bounds",
	} {
		n := &notebook.Notebook{Cells: []*notebook.Cell{notebook.NewCode("fmt.Println(elsewhere)", "a"), notebook.NewCode(cell, "parameters")}}
		var s parameter.Set
		if err := s.Set(text); err != nil {
			t.Fatal(err)
		}
		err := s.Inject(n)
		var wrong *parameter.TypeError
		switch {
		case want == "" && (err != nil || len(n.Cells) != 3):
			t.Errorf("%s: %v, %d cells", text, err, len(n.Cells))
		case want != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || len(n.Cells) != 2):
			t.Errorf("%s: got %v with %d cells, want %q", text, err, len(n.Cells), want)
		}
	}
}

// A parameter that no cell uses is an error.
func TestInjectOfUnused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		cells []string
		want  string
	}{
		{[]string{"fmt.Println(x)"}, ""},
		{[]string{"a := 1", "func f() int { return x + y }"}, ""},
		{[]string{"!echo $x"}, ""},
		{[]string{"x := 3"}, ""},
		{nil, "parameter x: no cell uses x"},
		{[]string{"fmt.Println(xs)", "// x"}, "parameter x: no cell uses x"},
		{[]string{"a.x = \"x\""}, "parameter x: no cell uses x"},
	} {
		n := &notebook.Notebook{}
		for _, cell := range row.cells {
			n.Cells = append(n.Cells, notebook.NewCode(cell, "a"))
		}
		n.Cells = append(n.Cells, notebook.NewCode("x = 1", "injected-parameters"))
		s := parameter.Set{{Name: "x", Literal: "3"}}
		err := s.Inject(n)
		var unused *parameter.UnusedError
		if (row.want == "") != (err == nil) || err != nil && (!errors.As(err, &unused) || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%q: got %v, want %q", row.cells, err, row.want)
		}
	}
	err := parameter.Set{{Name: "x", Literal: "3"}, {Name: "y", Literal: "3"}}.Inject(&notebook.Notebook{})
	if err == nil || !strings.Contains(err.Error(), "parameters x, y: no cell uses them") {
		t.Errorf("got %v", err)
	}
}

func TestSetTwice(t *testing.T) {
	t.Parallel()
	var s parameter.Set
	if err := s.Set("x=1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("x=2"); err == nil || !strings.Contains(err.Error(), "x is given twice") {
		t.Errorf("got %v", err)
	}
}

// FuzzParse searches for values from which Parse generates code that is not a literal.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"x=3", "x=[]string{f()}", "x=`\n!sh`", "x=map[string]T{`a`: {B: -1}}", "x='\\''"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parameter.Parse(text)
		if err != nil {
			return
		}
		if strings.ContainsAny(p.Literal, "\n\r") {
			t.Errorf("%q has more than one line", p.Literal)
		}
		again, err := parameter.Parse(p.Name + "=" + p.Literal)
		if err != nil || again != p {
			t.Errorf("%q is read again as %q, %v", p.Literal, again.Literal, err)
		}
	})
}
