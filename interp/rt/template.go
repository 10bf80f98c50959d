package rt

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
	"unsafe"
)

// Package template finds fields and methods by reflection. For the raw values of cells it
// would find no methods, the wrong field names and the wrong types. So the standard library
// parses templates, and escapes those of html/template, and this package executes them on
// values that know their types: see [ReflectValue]. The output and the errors are those of
// the standard library.

// TextExecute is t.Execute(w, data).
func (r *Registry) TextExecute(t *template.Template, w io.Writer, data any) error {
	if r.isCompiledTemplate(t, data) {
		return t.Execute(w, data)
	}
	return r.executeTemplate(t, w, data)
}

// TextExecuteTemplate is t.ExecuteTemplate(w, name, data).
func (r *Registry) TextExecuteTemplate(t *template.Template, w io.Writer, name string, data any) error {
	if named := t.Lookup(name); named != nil {
		return r.TextExecute(named, w, data)
	}
	return t.ExecuteTemplate(w, name, nil) // returns the error
}

// HTMLExecute is t.Execute(w, data).
func (r *Registry) HTMLExecute(t *htmltemplate.Template, w io.Writer, data any) error {
	return r.htmlExecute(t, t.Execute, w, data)
}

// HTMLExecuteTemplate is t.ExecuteTemplate(w, name, data).
func (r *Registry) HTMLExecuteTemplate(t *htmltemplate.Template, w io.Writer, name string, data any) error {
	execute := func(w io.Writer, data any) error { return t.ExecuteTemplate(w, name, data) }
	if named := t.Lookup(name); named != nil {
		return r.htmlExecute(named, execute, w, data)
	}
	return execute(w, nil) // returns the error
}

// htmlExecute executes t, which execute does for compiled values.
func (r *Registry) htmlExecute(t *htmltemplate.Template, execute func(io.Writer, any) error, w io.Writer, data any) error {
	if r.isCompiledTemplate(textOf(t), data) {
		return execute(w, data)
	}
	if err := r.escape(t, func() error { return execute(escapeOnly{}, nil) }); err != nil {
		return err
	}
	return r.executeTemplate(textOf(t), w, data)
}

// escapeOnly is the writer of an execution that must end at the first text.
type escapeOnly struct{}

var errEscaped = errors.New("the template is escaped")

// Write implements io.Writer.
func (escapeOnly) Write([]byte) (int, error) { return 0, errEscaped }

// escape makes html/template escape t, which it does at the first execution. A text node
// before the template ends that execution before it has an effect.
func (r *Registry) escape(t *htmltemplate.Template, execute func() error) error {
	if _, done := r.escaped.Load(t); done || t.Tree == nil || t.Tree.Root == nil {
		if !done {
			return execute() // returns the error
		}
		return nil
	}
	root := t.Tree.Root
	front := &parse.TextNode{NodeType: parse.NodeText, Text: []byte(" ")}
	root.Nodes = append([]parse.Node{front}, root.Nodes...)
	err := execute()
	if len(root.Nodes) > 0 && root.Nodes[0] == parse.Node(front) {
		root.Nodes = root.Nodes[1:]
	}
	if !errors.Is(err, errEscaped) {
		return err
	}
	r.escaped.Store(t, nil)
	return nil
}

// textOf returns the text/template that html/template executes for t. A test fails if the
// standard library renames the field.
func textOf(t *htmltemplate.Template) *template.Template {
	f := reflect.ValueOf(t).Elem().FieldByName("text")
	return *(**template.Template)(unsafe.Pointer(f.UnsafeAddr()))
}

// sharedField returns an unexported field that t shares with its associated templates. The
// field is invalid before the first of them is parsed.
func sharedField(t *template.Template, name string) reflect.Value {
	shared := reflect.ValueOf(t).Elem().FieldByName("common")
	if shared.IsNil() {
		return reflect.Value{}
	}
	f := shared.Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// templateFunctions returns the functions that Funcs has added to a template.
func templateFunctions(t *template.Template) map[string]reflect.Value {
	f := sharedField(t, "execFuncs")
	if !f.IsValid() {
		return nil
	}
	functions, _ := f.Interface().(map[string]reflect.Value)
	return functions
}

// escaperPrefix is the prefix of the functions that html/template adds.
const escaperPrefix = "_html_template_"

// isCompiledTemplate reports whether the standard library can execute t: whether no value
// of a cell is in the data or can be returned by a function.
func (r *Registry) isCompiledTemplate(t *template.Template, data any) bool {
	for name := range templateFunctions(t) {
		if !strings.HasPrefix(name, escaperPrefix) {
			return false
		}
	}
	return data == nil || r.jsonHoldsNoBox(reflect.TypeOf(data)) && !reflect.TypeOf(data).Implements(substituteType)
}

// cellFunction replaces a function with types of cells in its signature. Package template
// cannot call the function itself, because it has no templateRun.
type cellFunction func(*templateRun) (ReflectValue, error)

// TextFuncs is t.Funcs(functions).
func (r *Registry) TextFuncs(t *template.Template, functions template.FuncMap) *template.Template {
	return t.Funcs(r.templateFuncs(functions))
}

// HTMLFuncs is t.Funcs(functions).
func (r *Registry) HTMLFuncs(t *htmltemplate.Template, functions htmltemplate.FuncMap) *htmltemplate.Template {
	return t.Funcs(r.templateFuncs(functions))
}

func (r *Registry) templateFuncs(functions map[string]any) map[string]any {
	compiled := make(map[string]any, len(functions))
	for name, f := range functions {
		compiled[name] = f
		if b, ok := r.unbox(f); ok && b.GoType().Kind() == reflect.Func {
			if err := goodFunc(name, b.GoType()); err != nil {
				panic(err)
			}
			v := r.ReflectValueOf(f)
			compiled[name] = cellFunction(func(*templateRun) (ReflectValue, error) { return v, nil })
		}
	}
	return compiled
}

// goodFunc returns an error if templates cannot call a function of that type.
func goodFunc(name string, t reflect.Type) error {
	switch out := t.NumOut(); {
	case out == 1, out == 2 && t.Out(1) == errorType:
		return nil
	case out == 2:
		return fmt.Errorf("invalid function signature for %s: second return value should be error; is %s", name, t.Out(1))
	default:
		return fmt.Errorf("function %s has %d return values; should be 1 or 2", name, out)
	}
}
