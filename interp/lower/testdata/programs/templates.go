package main

import (
	"errors"
	"fmt"
	html "html/template"
	"strings"
	"text/template"
)

type U struct{ Name string }

func (u U) Upper() string                      { return strings.ToUpper(u.Name) }
func (u *U) Ptr() string                       { return "ptr " + u.Name }
func (u U) Add(a, b int) int                   { return a + b }
func (u U) Err() (string, error)               { return "", errors.New("bad") }
func (u U) Join(s string, xs ...string) string { return u.Name + s + strings.Join(xs, s) }
func (u U) Friends() []U                       { return []U{{"x"}, {"y"}} }
func (u U) M() map[string]U                    { return map[string]U{"k": {"v"}} }

type C float64

func (c C) String() string { return fmt.Sprintf("%.1f°", float64(c)) }

type Page struct {
	Title string
	User  *U
	Users []U
	Temp  C
	Temps map[string]C
	any   int
	Fn    func(int) C
	In    any
	Sh    fmt.Stringer
	U
}

func main() {
	out := &strings.Builder{}
	defer func() { fmt.Print(out) }()
	p := Page{Title: "T<b>", User: &U{"bob"}, Users: []U{{"a"}, {"b"}}, Temp: 3, Temps: map[string]C{"z": 1, "a": 2}, Fn: func(n int) C { return C(n) }, In: U{"in"}, Sh: C(9), U: U{"emb"}}
	t := template.Must(template.New("x").Funcs(template.FuncMap{
		"up": strings.ToUpper, "double": func(c C) C { return 2 * c }, "uname": func(u U) string { return u.Name }, "mk": func(s string) U { return U{s} },
		"maybe": func(n int) (C, error) {
			if n < 0 {
				return 0, errors.New("negative")
			}
			return C(n), nil
		},
	}).Parse(`{{.Title}} {{.User.Upper}} {{.User.Ptr}} {{range $i, $u := .Users}}{{$i}}={{$u.Upper}}:{{$u}} {{end}}
{{.Temp}} {{range $k, $v := .Temps}}{{$k}}:{{$v}} {{end}}{{call .Fn 4}} {{.In.Upper}} {{.In}} {{.Sh}} {{.Upper}} {{.Name}}
{{with .User}}{{.Name}}{{end}} {{len .Users}} {{index .Users 1}} {{(index .Users 0).Upper}} {{index .Temps "z"}} {{printf "%v %T %s" .Temp .Temp .User.Name}}
{{up "x"}} {{double .Temp}} {{uname .U}} {{(mk "q").Upper}} {{maybe 3}}  {{.M.k.Upper}} {{if eq .Temp .Temp}}eq{{end}} {{if lt 1 2}}lt{{end}} {{.Users | len}}
{{define "sub"}}[{{.Upper}}]{{end}}{{template "sub" .User}}{{template "sub" .U}} {{block "bl" .}}{{.Title}}{{end}} {{html .Title}} {{js .Title}} {{slice .Title 0 1}} {{not .Users}} {{and .Temp .Sh}} {{println .Temp}}
`))
	fmt.Println(t.Execute(out, p))
	fmt.Println(t.Execute(out, &p))
	for _, bad := range []string{"{{maybe -1}}"} {
		t, err := template.New("bad").Funcs(template.FuncMap{"maybe": func(n int) (C, error) { return 0, errors.New("negative") }}).Parse(bad)
		if err != nil {
			fmt.Println("parse", err)
			continue
		}
		fmt.Println(t.Execute(out, p))
	}
	h := html.Must(html.New("h").Parse("<a href='{{.Title}}' onclick=\"f({{.Users}}, {{.Temp}}, {{.Sh}})\">{{.User.Upper}} {{.Temp}} {{.Sh}}</a>\n"))
	fmt.Println(h.Execute(out, p))
	var sb strings.Builder
	fmt.Println(t.ExecuteTemplate(&sb, "sub", U{"sub"}), sb.String())
	f := t.Execute
	fmt.Println(f(out, U{"z"}) != nil)
	type row struct {
		A int
		B []string
	}
	template.Must(template.New("r").Parse("{{range .}}{{.A}}:{{range .B}}{{.}},{{end}};{{end}}\n")).Execute(out, []row{{1, []string{"x"}}, {2, nil}})
	template.Must(template.New("m").Parse("{{.a.Upper}} {{range $k, $v := .}}{{$k}}{{$v.Name}} {{end}}\n")).Execute(out, map[string]U{"a": {"one"}, "b": {"two"}})
}
