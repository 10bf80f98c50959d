package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// arity contains the text fragments for the adapters with N parameters.
type arity struct {
	N int
	// Types are the type parameters, Refs the variables of type valueRef, From their initial values, and
	// Arguments the arguments of the call.
	Types, Refs, From, Arguments string
}

// Pairs reports whether there are adapters with two results.
func (a arity) Pairs() bool { return a.N < 3 }

// Listed returns the type parameters, followed by a comma if there are any.
func (a arity) Listed() string { return before(a.Types) }

// Set declares the references to the arguments and other variables with these names and values.
func (a arity) Set(names, values string) string {
	return before(a.Refs) + names + " := " + before(a.From) + values
}

func before(list string) string {
	if list == "" {
		return ""
	}
	return list + ", "
}

// adapters returns the functions that choose the result types of an adapter.
func adapters() string {
	var arities []arity
	for n := range 4 {
		a := arity{N: n}
		var types, refs, from, arguments []string
		for i := range n {
			t, s := string(rune('A'+i)), string(rune('x'+i))
			types, refs = append(types, t), append(refs, s)
			from = append(from, fmt.Sprintf("c.in[%d]", i))
			arguments = append(arguments, fmt.Sprintf("*argumentAt[%s](nb, sb, %s)", t, s))
		}
		a.Types, a.Refs = strings.Join(types, ", "), strings.Join(refs, ", ")
		a.From, a.Arguments = strings.Join(from, ", "), strings.Join(arguments, ", ")
		arities = append(arities, a)
	}
	var b bytes.Buffer
	if err := adapterTemplate.Execute(&b, map[string]any{"Arities": arities, "Results": results}); err != nil {
		panic(err)
	}
	return header + b.String()
}

// results are the classes of results, with the type that stands for each.
var results = []struct{ Class, Type string }{
	{"classInteger", "int64"}, {"classSmall", "uint32"}, {"classFloat", "float64"}, {"classString", "string"},
	{"classPointer", "unsafe.Pointer"}, {"classSlice", "[]byte"}, {"classInterface", "any"},
}

var adapterTemplate = template.Must(template.New("").Parse(`import "unsafe"

// The functions of this file choose the types of the results. A small integer is
// returned as 32 bits.
{{range $a := .Arities}}
func results{{.N}}{{if .N}}[{{.Types}} any]{{end}}(c *callSignature) adapter {
	switch len(c.out) {
	case 0:
		{{if .N}}{{.Refs}} := {{.From}}{{end}}
		return func(f, nb, sb unsafe.Pointer) { reinterpret[func({{.Types}})](f)({{.Arguments}}) }
	case 1:
		switch c.out[0].class {
		{{range $.Results}}case {{.Class}}:
			return oneResult{{$a.N}}[{{$a.Listed}}{{.Type}}](c)
		{{end}}}
	{{if .Pairs}}case 2:
		switch c.out[1].class {
		case classInteger:
			return twoResults{{.N}}[{{.Listed}}int64](c)
		case classSmall:
			return twoResults{{.N}}[{{.Listed}}uint32](c)
		case classInterface:
			return twoResults{{.N}}[{{.Listed}}any](c)
		}
	{{end}}{{if eq .N 2}}case 3:
		if c.out[0].class == classString && c.out[1].class == classString && c.out[2].class == classSmall {
			return cutResults[A, B](c)
		}
	{{end}}}
	return nil
}

func oneResult{{.N}}[{{.Listed}}R any](c *callSignature) adapter {
	{{.Set "r" "c.out[0]"}}
	return func(f, nb, sb unsafe.Pointer) { storeResult(nb, sb, r, reinterpret[func({{.Types}}) R](f)({{.Arguments}})) }
}
{{if .Pairs}}
func twoResults{{.N}}[{{.Listed}}S any](c *callSignature) adapter {
	switch c.out[0].class {
	{{range $.Results}}case {{.Class}}:
		return bothResults{{$a.N}}[{{$a.Listed}}{{.Type}}, S](c)
	{{end}}}
	return nil
}

func bothResults{{.N}}[{{.Listed}}R, S any](c *callSignature) adapter {
	{{.Set "r, s" "c.out[0], c.out[1]"}}
	return func(f, nb, sb unsafe.Pointer) {
		v, w := reinterpret[func({{.Types}}) (R, S)](f)({{.Arguments}})
		storeResult(nb, sb, r, v)
		storeResult(nb, sb, s, w)
	}
}
{{end}}{{end}}
// cutResults is the adapter of strings.Cut and functions like it.
func cutResults[A, B any](c *callSignature) adapter {
	x, y, r, s, t := c.in[0], c.in[1], c.out[0], c.out[1], c.out[2]
	return func(f, nb, sb unsafe.Pointer) {
		v, w, u := reinterpret[func(A, B) (string, string, uint32)](f)(*argumentAt[A](nb, sb, x), *argumentAt[B](nb, sb, y))
		storeResult(nb, sb, r, v)
		storeResult(nb, sb, s, w)
		storeResult(nb, sb, t, u)
	}
}
`))
