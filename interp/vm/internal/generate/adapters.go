package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// registers is a number of integer registers and of floating-point registers that an adapter passes.
type registers struct{ Words, Floats int }

// registerCounts are the counts for which there are adapters, ordered so that the first that is enough loads little more
// than the function expects.
var registerCounts = []registers{
	{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {9, 0},
	{1, 2}, {3, 2}, {6, 3},
}

// Types are the types of the parameters.
func (r registers) Types() string {
	var list []string
	for range r.Words {
		list = append(list, "uintptr")
	}
	for range r.Floats {
		list = append(list, "float64")
	}
	return strings.Join(list, ", ")
}

// Arguments are the arguments of the call.
func (r registers) Arguments() string {
	var list []string
	for i := range r.Words {
		list = append(list, fmt.Sprintf("word(nb, sb, w[%d])", i))
	}
	for i := range r.Floats {
		list = append(list, fmt.Sprintf("float(nb, sb, x[%d])", i))
	}
	return strings.Join(list, ", ")
}

// adapters returns the functions that choose an adapter by the registers of its arguments.
func adapters() string {
	var b bytes.Buffer
	if err := adapterTemplate.Execute(&b, registerCounts); err != nil {
		panic(err)
	}
	return header + b.String()
}

var adapterTemplate = template.Must(template.New("").Parse(`import "unsafe"

// The functions of this file choose the first adapter that passes enough words and floats.

func noResults(c *callSignature) Adapter {
	w, x := c.words, c.floats
	switch {
	{{range .}}case c.fits({{.Words}}, {{.Floats}}):
		return func(f, nb, sb unsafe.Pointer) { reinterpret[func({{.Types}})](f)({{.Arguments}}) }
	{{end}}}
	return nil
}

func oneResult[R any](c *callSignature) Adapter {
	w, x, r := c.words, c.floats, c.out[0]
	switch {
	{{range .}}case c.fits({{.Words}}, {{.Floats}}):
		return func(f, nb, sb unsafe.Pointer) {
			store(nb, sb, r, reinterpret[func({{.Types}}) R](f)({{.Arguments}}))
		}
	{{end}}}
	return nil
}

func twoResults[R, S any](c *callSignature) Adapter {
	w, x, r, s := c.words, c.floats, c.out[0], c.out[1]
	switch {
	{{range .}}case c.fits({{.Words}}, {{.Floats}}):
		return func(f, nb, sb unsafe.Pointer) {
			v, y := reinterpret[func({{.Types}}) (R, S)](f)({{.Arguments}})
			store(nb, sb, r, v)
			store(nb, sb, s, y)
		}
	{{end}}}
	return nil
}
`))
