package rt

import (
	"bytes"
	"fmt"
	htmltemplate "html/template"
	"testing"
	"text/template"
)

func TestTemplateExecute(t *testing.T) {
	w := newHarness(t)
	loop := &Node{Value: 1, By: map[Text]*Node{}}
	loop.Next = loop
	tests := []struct {
		text string
		data any
	}{
		{"{{.C}} {{.A}} {{.E}} {{.S}} {{.L}} {{.D}}", Outer{C: 1, A: Celsius(2), E: Code{3}, S: Celsius(4), L: []Celsius{5, 6}}},
		{"{{range $i, $x := .L}}{{$i}}={{$x}};{{else}}none{{end}}", Outer{L: []Celsius{5, 6}}},
		{"{{range .}}{{.Describe}} {{end}}", []Base{{1, "a"}, {2, "b"}}},
		{"{{.Describe}} {{.Name}} {{.ID}} {{.Seen}} {{.X}}", Derived{Base: Base{1, "n"}, Point: &Point{3, 4, ""}, inner: inner{Seen: 5}}},
		{"{{.Shape.Area}} {{range .Others}}{{.Area}} {{end}}{{.Any}}", &Holder{Shape: Square{2}, Others: []Shape{Square{3}}, Any: Weekday(1)}},
		{"{{.Value}} {{.Next.Value}} {{.Next.Next.Value}} {{if .Kids}}kids{{else}}none{{end}} {{len .By}}", loop},
		{"{{.}} {{printf `%+v` .}}", Point{1, 2, "n"}},
		{"{{.}}", Celsius(3)},
		{"{{.}} {{if .}}yes{{end}} {{eq . 5}}", Int(5)},
		{"{{.a}} {{.b.Name}} {{.b.Describe}} {{.none}}", map[string]any{"a": Celsius(1), "b": Base{1, "n"}}},
		{"{{range $k, $v := .}}{{$k}}:{{$v}} {{end}}", Names{"a": 1, "b": 2}},
		{"{{with .P}}{{.X}}{{else}}nil{{end}}", Outer{}},
		{"{{with $p := .P}}{{$p.X}}{{end}}", Outer{P: &Point{7, 8, ""}}},
		{"{{define `t`}}<{{.Name}}>{{end}}{{template `t` .}}", Base{1, "n"}},
		{"{{.T.Year}} {{.D.String}} {{.B.Len}}", Outer{B: bytes.NewBufferString("four")}},
		{"plain {{.Key}} {{.Val}}", Pair[Text, Int]{"k", 1}},
		{"{{.Absent}}", Base{}},
		{"{{.note}}", Point{}},
		{"{{.Sum 1 2}} {{.Sum}} {{3 | .Sum 1}}", Variadic{1}},
		{"{{.Sum `a`}}", Variadic{1}},
		{"{{.MarshalText}}", Color{R: 255}},
		{"{{.String}}", Weekday(9)},
		{"{{.Name.X}}", Base{}},
		{"{{.P.X}}", Outer{}},
		{"{{if false}}{{.Absent}}{{end}}{{index .L 7}}", Outer{}},
		{"{{.}}", nil},
		{"{{.X}}", &struct{ X []any }{[]any{Celsius(1)}}},
	}
	for _, tt := range tests {
		var got, want bytes.Buffer
		real := template.Must(template.New("root").Parse(tt.text))
		wantErr := real.Execute(&want, tt.data)
		err := real.Execute(&got, w.box(tt.data))
		if got.String() != want.String() || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s\n got %q, %v\nwant %q, %v", tt.text, got.String(), err, want.String(), wantErr)
		}
		got.Reset()
		want.Reset()
		html := htmltemplate.Must(htmltemplate.New("root").Parse("<p>" + tt.text))
		wantErr = html.ExecuteTemplate(&want, "root", tt.data)
		err = html.ExecuteTemplate(&got, "root", w.box(tt.data))
		if got.String() != want.String() || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("html: %s\n got %q, %v\nwant %q, %v", tt.text, got.String(), err, want.String(), wantErr)
		}
	}
}
