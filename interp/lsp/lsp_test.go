package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/quernlab/quern/interp/lsp"
	"github.com/quernlab/quern/interp/module"
)

type object = map[string]any

// A client is an editor with one notebook, whose cells have the URIs cell1, cell2 …
type client struct {
	t           *testing.T
	conn        *jsonrpc2.Conn
	diagnostics chan object
	ended       chan error
}

func (c *client) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	switch r.Method {
	case "textDocument/publishDiagnostics":
		var p object
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			c.t.Error(err)
		}
		c.diagnostics <- p
	default:
		c.t.Errorf("the server sent %s %s", r.Method, *r.Params)
	}
}

func connect(t *testing.T) *client {
	ctx, stop := context.WithCancel(context.Background()) // that of t has ended when the cleanup says shutdown
	here, there := net.Pipe()
	c := &client{t: t, diagnostics: make(chan object, 100), ended: make(chan error, 1)}
	go func() { c.ended <- lsp.Serve(ctx, there, module.Default()) }()
	c.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), c)
	t.Cleanup(func() {
		defer stop()
		if err := c.conn.Call(ctx, "shutdown", nil, nil); err != nil {
			t.Error(err)
		}
		c.conn.Close()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
	})
	c.call("initialize", object{"capabilities": object{}})
	return c
}

func (c *client) call(method string, params any) (result any) {
	c.t.Helper()
	if err := c.conn.Call(c.t.Context(), method, params, &result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return result
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	if err := c.conn.Notify(c.t.Context(), method, params); err != nil {
		c.t.Fatal(err)
	}
}

func cellURI(i int) string { return fmt.Sprintf("cell%d", i+1) }

// open opens a notebook.
func (c *client) open(cells ...string) {
	var list, texts []any
	for i, text := range cells {
		list = append(list, object{"kind": 2, "document": cellURI(i)})
		texts = append(texts, object{"uri": cellURI(i), "languageId": "go", "version": 1, "text": text})
	}
	c.notify("notebookDocument/didOpen", object{
		"notebookDocument": object{"uri": "untitled:nb.ipynb", "notebookType": "jupyter-notebook", "version": 1, "cells": list}, "cellTextDocuments": texts,
	})
}

// next returns the diagnostics of the next n documents as lines such as "cell1 0:4-0:5 error: undefined: x".
func (c *client) next(n int) (lines []string) {
	for range n {
		p := <-c.diagnostics
		for _, d := range p["diagnostics"].([]any) {
			d := d.(object)
			severity := []string{"", "error", "warning", "information"}[int(d["severity"].(float64))]
			lines = append(lines, fmt.Sprintf("%s %s %s: %s", p["uri"], span(d["range"]), severity, d["message"]))
		}
	}
	slices.Sort(lines)
	return lines
}

// equal compares what is wanted with what the server has sent.
func equal(t *testing.T, want, got any) {
	t.Helper()
	if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// span writes a range as 0:4-0:5.
func span(r any) string {
	at := func(p any) string { return fmt.Sprintf("%v:%v", p.(object)["line"], p.(object)["character"]) }
	return at(r.(object)["start"]) + "-" + at(r.(object)["end"])
}

// marked removes the mark ¦ from cells and returns where it was.
func marked(t *testing.T, cells []string) (clean []string, uri string, at object) {
	for i, text := range cells {
		before, after, ok := strings.Cut(text, "¦")
		if ok {
			line := before[strings.LastIndexByte(before, '\n')+1:]
			uri, at = cellURI(i), object{"line": strings.Count(before, "\n"), "character": len([]rune(line))}
		}
		clean = append(clean, before+after)
	}
	if uri == "" {
		t.Fatal("no cell has a mark")
	}
	return clean, uri, at
}

// ask opens a notebook and sends a request for the place with the mark.
func ask(t *testing.T, method string, more object, cells ...string) (result any, err error) {
	clean, uri, at := marked(t, cells)
	c := connect(t)
	c.open(clean...)
	params := object{"textDocument": object{"uri": uri}, "position": at}
	for key, value := range more {
		params[key] = value
	}
	err = c.conn.Call(t.Context(), "textDocument/"+method, params, &result)
	return result, err
}

func TestDiagnostics(t *testing.T) {
	tests := []struct {
		name  string
		cells []string
		want  []string
	}{
		{"none", []string{"x := 1", "x + 1"}, nil},
		{"undefined", []string{"x := y"}, []string{"cell1 0:5-0:6 error: undefined: y"}},
		{"of another type", []string{"x := 1", "var s string = x"}, []string{"cell2 0:15-0:16 error: cannot use x (variable of type int) as string value in variable declaration; fmt.Sprint converts a value to a string"}},
		{"defined below", []string{"a := b", "b := 1"}, []string{"cell1 0:5-0:6 error: undefined: b; cell 2, below, defines it"}},
		{"unused in a function", []string{"func f() {\n\tunused := 1\n}"}, []string{"cell1 1:1-1:7 warning: declared and not used: unused, which the Go compiler rejects"}},
		{"vet", []string{`fmt.Printf("%d\n", "a")`}, []string{`cell1 0:12-0:13 warning: fmt.Printf format %d has arg "a" of wrong type string`}},
		{"an error that is not read", []string{`_, err := os.Open("x")`}, []string{"cell1 0:3-0:6 information: err is not read in this cell: if it is not nil, the cell fails"}},
		{"syntax", []string{"if {"}, []string{"cell1 0:3-0:4 error: missing condition in if statement"}},
		{"once, not in the cells that follow", []string{"x := missing", "x"}, []string{"cell1 0:5-0:12 error: undefined: missing"}},
		{"characters beyond ASCII before", []string{`s := "äöü😀" + y`}, []string{"cell1 0:15-0:16 error: undefined: y"}},
		{"commands", []string{"%time x := 1\n!ls\ny"}, []string{"cell1 2:0-2:1 error: undefined: y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t)
			c.open(tt.cells...)
			equal(t, tt.want, c.next(len(tt.cells)))
		})
	}
}

func TestHover(t *testing.T) {
	tests := []struct {
		cells []string
		want  string // a part of the text
	}{
		{[]string{"// f doubles x.\nfunc f(x int) int { return 2 * x }", "¦f(1)"}, "func f(x int) int\n```\n\nf doubles x."},
		{[]string{"strings.To¦Upper"}, "func strings.ToUpper(s string) string"},
		{[]string{"x := []int{1}", "for i, y := range ¦x {\n}"}, "var x []int"},
		{[]string{"%ti¦me f()"}, "%time"},
	}
	for _, tt := range tests {
		result, err := ask(t, "hover", nil, tt.cells...)
		if err != nil || result == nil {
			t.Errorf("%q: %v, %v", tt.cells, result, err)
			continue
		}
		if text := result.(object)["contents"].(object)["value"].(string); !strings.Contains(text, tt.want) {
			t.Errorf("%q: %s\nwant %s", tt.cells, text, tt.want)
		}
	}
	if result, err := ask(t, "hover", nil, "x := 1 ¦ + 2"); result != nil || err != nil {
		t.Errorf("between names: %v, %v", result, err)
	}
}

func TestCompletion(t *testing.T) {
	tests := []struct {
		cells []string
		first string
	}{
		{[]string{"value := 1", "val¦"}, "value"},
		{[]string{"type P struct{ Name string }\np := P{}", "p.N¦"}, "Name"},
		{[]string{"strings.ToUp¦"}, "ToUpper"},
		{[]string{"%ti¦"}, "%time"},
		{[]string{"if true {\n\tfmt.Printl¦\n}"}, "Println"},
	}
	for _, tt := range tests {
		result, err := ask(t, "completion", nil, tt.cells...)
		if err != nil {
			t.Errorf("%q: %v", tt.cells, err)
			continue
		}
		items := result.(object)["items"].([]any)
		if len(items) == 0 || items[0].(object)["textEdit"].(object)["newText"] != tt.first {
			t.Errorf("%q: %v, want %s", tt.cells, items, tt.first)
		}
	}
}

// TestSnippetsAndDocumentation has a client that fills in places, and asks for the documentation of the first item.
func TestSnippetsAndDocumentation(t *testing.T) {
	c := connect(t)
	c.call("initialize", object{"capabilities": object{"textDocument": object{"completion": object{"completionItem": object{"snippetSupport": true}}}}})
	tests := []struct {
		cells   []string
		snippet string
		doc     string // a part of it
	}{
		{[]string{"// Area is the area.\nfunc Area(width, height int) int { return 0 }", "x := 2 * Ar¦"}, "Area(${1:width}, ${2:height})$0", "func Area(width int, height int) int\n```\n\nArea is the area."},
		{[]string{"(strings.¦)"}, "Builder", "A Builder is used to efficiently build a string"},
		{[]string{"strings.Repe¦(\"a\", 2)"}, "Repeat", "Repeat returns a new string"},
		{[]string{"type P struct {\n\t// Name is a name.\n\tName string\n}", "p := P{Na¦}"}, "Name", "Name is a name."},
		{[]string{"def¦"}, "default", "default begins"},
		{[]string{"%ti¦"}, "%time", "%time"},
		{[]string{"accel.Fit(ctx, nil, nil, accel.AdamW¦"}, "AdamW(${1:rate})$0", "func accel.AdamW(rate float64) accel.Option"},
	}
	for _, tt := range tests {
		clean, uri, at := marked(t, tt.cells)
		c.open(clean...)
		items := c.call("textDocument/completion", object{"textDocument": object{"uri": uri}, "position": at}).(object)["items"].([]any)
		item := items[0].(object)
		equal(t, tt.snippet, item["textEdit"].(object)["newText"])
		if isSnippet := item["insertTextFormat"] == 2.; isSnippet != strings.Contains(tt.snippet, "$") {
			t.Errorf("%v", item)
		}
		resolved := c.call("completionItem/resolve", item).(object)
		if doc, _ := resolved["documentation"].(object); doc == nil || !strings.Contains(doc["value"].(string), tt.doc) || fmt.Sprint(resolved["textEdit"]) != fmt.Sprint(item["textEdit"]) {
			t.Errorf("%q: %v", tt.cells, resolved)
		}
	}
}

func TestSignatureHelp(t *testing.T) {
	tests := []struct {
		cells     []string
		label     string
		parameter string // the active one
	}{
		{[]string{"func add(a, b int) int { return a + b }", "add(1, ¦"}, "func add(a int, b int) int", "b int"},
		{[]string{"func add(a, b int) int { return a + b }", "add(¦1, 2)"}, "func add(a int, b int) int", "a int"},
		{[]string{`fmt.Printf("%d", 1, 2¦)`}, "func Printf(format string, a ...any) (n int, err error)", "a ...any"},
		{[]string{`add := func(x []int, y int) {}`, "add([]int{1, 2}, ¦)"}, "add(x []int, y int)", "y int"},
		{[]string{"strings.Repeat(strings.ToUpper(\"a\"), ¦"}, "func Repeat(s string, count int) string", "count int"},
		{[]string{"strings.Repeat(strings.ToUpper(¦), 2)"}, "func ToUpper(s string) string", "s string"},
		{[]string{"slices.Max([]int{1, ¦2})"}, "func Max(x []int) int", "x []int"},
	}
	for _, tt := range tests {
		result, err := ask(t, "signatureHelp", nil, tt.cells...)
		if err != nil || result == nil {
			t.Errorf("%q: %v, %v", tt.cells, result, err)
			continue
		}
		s := result.(object)["signatures"].([]any)[0].(object)
		active := s["parameters"].([]any)[int(result.(object)["activeParameter"].(float64))].(object)["label"]
		if s["label"] != tt.label || active != tt.parameter {
			t.Errorf("%q: %v, %v", tt.cells, s["label"], active)
		}
	}
	for _, none := range []string{"f := 1 ¦", "int(¦3)", "strings.ToUpper(\"a\")¦"} {
		if result, err := ask(t, "signatureHelp", nil, none); result != nil || err != nil {
			t.Errorf("%s: %v, %v", none, result, err)
		}
	}
}

// places writes locations as "cell1 0:0-0:1".
func places(result any) (list []string) {
	for _, l := range result.([]any) {
		list = append(list, fmt.Sprintf("%s %s", l.(object)["uri"], span(l.(object)["range"])))
	}
	return list
}

func TestDefinitionAndReferences(t *testing.T) {
	tests := []struct {
		name       string
		cells      []string
		definition []string
		references []string // without definitions
	}{
		{"variable", []string{"x := 1", "y := ¦x", "x = y"}, []string{"cell1 0:0-0:1"}, []string{"cell2 0:5-0:6", "cell3 0:0-0:1"}},
		{"local variable of the same name", []string{"x := 1", "func f() int {\n\tx := 2\n\treturn ¦x\n}"}, []string{"cell2 1:1-1:2"}, []string{"cell2 2:8-2:9"}},
		{"method", []string{"type T struct{}", "func (t T) M() {}", "T{}.¦M()"}, []string{"cell2 0:11-0:12"}, []string{"cell3 0:4-0:5"}},
		{"field", []string{"type T struct{ A, B int }", "t := T{¦B: 1}", "t.B"}, []string{"cell1 0:18-0:19"}, []string{"cell2 0:7-0:8", "cell3 0:2-0:3"}},
		{"defined again with another type", []string{"x := 1", "x := \"a\"", "¦x"}, []string{"cell2 0:0-0:1"}, []string{"cell3 0:0-0:1"}},
		{"type switch", []string{"var v any", "switch w := v.(type) {\ncase int:\n\t_ = ¦w\ncase string:\n\t_ = w\n}"}, []string{"cell2 0:7-0:8"}, []string{"cell2 2:5-2:6", "cell2 4:5-4:6"}},
		{"generic function", []string{"func id[T any](x T) T { return x }", "¦id(1)", "id(\"a\")"}, []string{"cell1 0:5-0:7"}, []string{"cell2 0:0-0:2", "cell3 0:0-0:2"}},
		{"in a cell with an error", []string{"x := 1", "y := ¦x + undefined"}, []string{"cell1 0:0-0:1"}, []string{"cell2 0:5-0:6"}},
		{"of a package", []string{"strings.¦ToUpper(\"a\")"}, nil, nil},
		{"package", []string{"import \"strings\"", "¦strings.ToUpper(\"a\")", "strings.ToLower(\"a\")"}, []string{"cell1 0:7-0:16"}, []string{"cell2 0:0-0:7", "cell3 0:0-0:7"}},
		{"package that no cell imports", []string{"¦strings.ToUpper(\"a\")"}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := ask(t, "definition", nil, tt.cells...)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, tt.definition, places(result))
			if result, err = ask(t, "references", object{"context": object{"includeDeclaration": false}}, tt.cells...); err != nil {
				t.Fatal(err)
			}
			equal(t, tt.references, places(result))
		})
	}
}

// applied returns cells after an edit of the server.
func applied(cells []string, changes any) []string {
	cells = slices.Clone(cells)
	for i := range cells {
		edits, _ := changes.(object)[cellURI(i)].([]any)
		for _, e := range slices.Backward(edits) {
			var start, end struct{ line, character int }
			r := span(e.(object)["range"])
			fmt.Sscanf(r, "%d:%d-%d:%d", &start.line, &start.character, &end.line, &end.character)
			lines := strings.SplitAfter(cells[i], "\n")
			line := lines[start.line]
			lines[start.line] = line[:start.character] + e.(object)["newText"].(string) + line[end.character:]
			cells[i] = strings.Join(lines, "")
		}
	}
	return cells
}

func TestRename(t *testing.T) {
	tests := []struct {
		name, to    string
		cells, want []string
	}{
		{"variable", "count", []string{"¦n := 1", "n++", "func f() int { return n }"}, []string{"count := 1", "count++", "func f() int { return count }"}},
		{"not the local one", "m", []string{"¦n := 1", "func f(n int) int { return n }", "f(n)"}, []string{"m := 1", "func f(n int) int { return n }", "f(m)"}},
		{"type with an embedded field", "Base", []string{"type ¦A struct{ x int }", "type B struct{ A }", "b := B{A{1}}", "b.A.x"},
			[]string{"type Base struct{ x int }", "type B struct{ Base }", "b := B{Base{1}}", "b.Base.x"}},
		{"method", "Area", []string{"type S struct{}\nfunc (S) ¦F() int { return 1 }", "S{}.F()"}, []string{"type S struct{}\nfunc (S) Area() int { return 1 }", "S{}.Area()"}},
		{"all names of a type switch", "u", []string{"var v any", "switch ¦w := v.(type) {\ncase int:\n\t_ = w\n}"}, []string{"var v any", "switch u := v.(type) {\ncase int:\n\t_ = u\n}"}},
		{"package", "text", []string{"import \"strings\"\nstrings.ToUpper(\"a\")", "func f(s string) bool { return ¦strings.Contains(s, \"b\") }", "f(strings.ToLower(\"B\"))"},
			[]string{"import text \"strings\"\ntext.ToUpper(\"a\")", "func f(s string) bool { return text.Contains(s, \"b\") }", "f(text.ToLower(\"B\"))"}},
		{"package of several, from its path", "rnd", []string{"import (\n\t\"fmt\"\n\t\"¦math/rand/v2\"\n)", "fmt.Sprint(rand.IntN(3))"}, []string{"import (\n\t\"fmt\"\n\trnd \"math/rand/v2\"\n)", "fmt.Sprint(rnd.IntN(3))"}},
		{"package with a name", "text", []string{"import ¦s \"strings\"", "s.ToUpper(\"a\")"}, []string{"import text \"strings\"", "text.ToUpper(\"a\")"}},
		{"package, not the variable of its name", "text", []string{"import \"strings\"", "¦strings.ToUpper(\"a\")", "func f(strings []int) int { return strings[0] }"},
			[]string{"import text \"strings\"", "text.ToUpper(\"a\")", "func f(strings []int) int { return strings[0] }"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := ask(t, "rename", object{"newName": tt.to}, tt.cells...)
			if err != nil {
				t.Fatal(err)
			}
			clean, _, _ := marked(t, tt.cells)
			equal(t, tt.want, applied(clean, result.(object)["changes"]))
		})
	}
}

func TestRenameIsRefused(t *testing.T) {
	tests := []struct {
		name, to string
		cells    []string
		want     string
	}{
		{"captured by a local variable", "n", []string{"¦x := 1", "func f(n int) int { return n + x }"}, "rename x to n: x in cell 2 would denote something else"},
		{"the name is taken", "y", []string{"y := 1\n¦x := 2\nx + y"}, "rename x to y: "},
		{"a method that an interface needs", "Text", []string{"type T struct{}\nfunc (T) ¦String() string { return \"\" }", "var s fmt.Stringer = T{}"}, "rename String to Text: cell 2, line 1: "},
		{"of a package", "F", []string{"strings.¦ToUpper"}, "rename: ToUpper is not defined in a cell"},
		{"package that no cell imports", "s", []string{"¦strings.ToUpper(\"a\")"}, "rename: no cell imports strings: write import \"strings\" first"},
		{"package with the name of a variable", "x", []string{"import \"strings\"\nx := 1", "¦strings.Repeat(\"a\", x)"}, "rename strings to x: "},
		{"not a name", "func", []string{"¦x := 1"}, `rename: "func" is not a name in Go`},
		{"nothing there", "y", []string{"x := 1 ¦ + 2"}, "rename: there is no name here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ask(t, "rename", object{"newName": tt.to}, tt.cells...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestInlayHintsAndTokens(t *testing.T) {
	c := connect(t)
	c.open("x := strings.Fields(\"a b\")\nfor i, s := range x {\n\t_, _ = i, s\n}\ny := []int{1}", "const limit = 3\nfunc f(n int) int { return n + limit }")
	var hints []string
	for _, h := range c.call("textDocument/inlayHint", object{"textDocument": object{"uri": "cell1"}}).([]any) {
		p := h.(object)["position"].(object)
		hints = append(hints, fmt.Sprintf("%v:%v %v", p["line"], p["character"], h.(object)["label"]))
	}
	equal(t, []string{"0:1 []string", "1:5 int", "1:8 string"}, hints)
	// limit, f, n, int, int, n, limit; a definition has bit 1, a constant bit 2, a predeclared name bit 4.
	want := []any{0., 6., 5., 4., 3., 1., 5., 1., 6., 1., 0., 2., 1., 3., 1., 0., 2., 3., 1., 4., 0., 5., 3., 1., 4., 0., 13., 1., 3., 0., 0., 4., 5., 4., 2.}
	equal(t, want, c.call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": "cell2"}}).(object)["data"])
}

func TestFormatting(t *testing.T) {
	c := connect(t)
	c.open("x:=1", "if x==1{\nfmt.Println( x )}")
	edits := c.call("textDocument/formatting", object{"textDocument": object{"uri": "cell2"}, "options": object{}}).([]any)
	if len(edits) != 1 || edits[0].(object)["newText"] != "if x == 1 {\n\tfmt.Println(x)\n}" {
		t.Errorf("%v", edits)
	}
}

func TestChangesOfANotebook(t *testing.T) {
	c := connect(t)
	c.open("x := 1", "y")
	equal(t, []string{"cell2 0:0-0:1 error: undefined: y"}, c.next(2))
	change := func(cells object) {
		c.notify("notebookDocument/didChange", object{"notebookDocument": object{"uri": "untitled:nb.ipynb", "version": 2}, "change": object{"cells": cells}})
	}
	edit := func(uri, text string, at ...int) object {
		r := object{"start": object{"line": at[0], "character": at[1]}, "end": object{"line": at[2], "character": at[3]}}
		return object{"textContent": []any{object{"document": object{"uri": uri, "version": 2}, "changes": []any{object{"range": r, "text": text}}}}}
	}
	change(edit("cell1", "y", 0, 0, 0, 1))
	if lines := c.next(2); lines != nil {
		t.Errorf("after the definition of y: %v", lines)
	}
	change(object{"structure": object{
		"array":   object{"start": 0, "deleteCount": 0, "cells": []any{object{"kind": 2, "document": "cell3"}}},
		"didOpen": []any{object{"uri": "cell3", "languageId": "go", "version": 1, "text": "y++"}},
	}})
	equal(t, []string{"cell3 0:0-0:1 error: undefined: y; cell 2, below, defines it"}, c.next(3))
	// Now below the others.
	change(object{"structure": object{"array": object{"start": 0, "deleteCount": 3, "cells": []any{
		object{"kind": 2, "document": "cell1"}, object{"kind": 2, "document": "cell2"}, object{"kind": 2, "document": "cell3"},
	}}}})
	if lines := c.next(3); lines != nil {
		t.Errorf("after cell3 was moved: %v", lines)
	}
	change(object{"structure": object{"array": object{"start": 0, "deleteCount": 1}, "didClose": []any{object{"uri": "cell1"}}}})
	equal(t, []string{"cell2 0:0-0:1 error: undefined: y", "cell3 0:0-0:1 error: undefined: y"}, c.next(3))
}

// As jupyterlab-lsp sends a notebook: as one document, with two blank lines between the cells.
func TestPlainDocument(t *testing.T) {
	c := connect(t)
	const uri = "file:///home/me/.virtual_documents/nb.ipynb"
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "go", "version": 1, "text": "x := 1\n\n\n\nx := \"a\"\n\n\n\nx + 1\n"}})
	p := <-c.diagnostics
	if got := p["diagnostics"].([]any); len(got) != 1 || !strings.HasPrefix(span(got[0].(object)["range"]), "8:") {
		t.Errorf("%v", got)
	}
	at := object{"textDocument": object{"uri": uri}, "position": object{"line": 8, "character": 0}}
	equal(t, []string{uri + " 4:0-4:1"}, places(c.call("textDocument/definition", at)))
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []any{object{"text": "x := 1\n\n\n\nx + 1\n"}}})
	if p := <-c.diagnostics; len(p["diagnostics"].([]any)) != 0 {
		t.Errorf("%v", p)
	}
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
	if p := <-c.diagnostics; p["uri"] != uri {
		t.Errorf("%v", p)
	}
}

func TestProtocolErrors(t *testing.T) {
	c := connect(t)
	for _, tt := range []struct {
		method string
		params any
		want   string
	}{
		{"textDocument/hover", object{"textDocument": object{"uri": "unknown"}}, "the document unknown has not been opened"},
		{"textDocument/hover", []int{1}, "cannot unmarshal array"},
		{"workspace/unknown", object{}, "has not been opened"},
	} {
		if err := c.conn.Call(t.Context(), tt.method, tt.params, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.method, err)
		}
	}
}
