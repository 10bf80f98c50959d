package rt

import (
	"fmt"
	htmltemplate "html/template"
	"reflect"
	"text/template"
)

// TemplateFuncs is t.Funcs(functions) for a template of text/template or
// html/template. A function with types of cells in its signature gets its
// arguments as the template has them, see TemplateExecute, and gives its results
// so.
func (r *Registry) TemplateFuncs(t any, functions map[string]any) any {
	compiled := make(map[string]any, len(functions))
	for name, f := range functions {
		compiled[name] = f
		r.functions.Store(name, nil)
		if b, ok := r.unbox(f); ok && reflect.TypeOf(b.V).Kind() == reflect.Func {
			compiled[name] = r.templateFunc(r.ReflectValueOf(f))
		}
	}
	switch t := t.(type) {
	case *template.Template:
		return t.Funcs(compiled)
	case *htmltemplate.Template:
		return t.Funcs(compiled)
	}
	panic(fmt.Errorf("cannot add functions to a template of type %T", t))
}

// templatePrinters are the functions of templates that print, where cells have not
// defined others of their names: those of templates tell the names of boxes for %T.
func (r *Registry) templatePrinters() map[string]any {
	printers := map[string]any{"print": r.Sprint, "printf": r.Sprintf, "println": r.Sprintln}
	for name := range printers {
		if _, own := r.functions.Load(name); own {
			delete(printers, name)
		}
	}
	return printers
}

// templateFunc is f with an any in place of each type of a cell.
func (r *Registry) templateFunc(f ReflectValue) any {
	s := r.signatureOf(f.view())
	plain := func(w view) reflect.Type {
		if w.d != nil {
			return anyType
		}
		return w.t
	}
	in, out := make([]reflect.Type, s.t.NumIn()), make([]reflect.Type, s.t.NumOut())
	for i := range in {
		in[i] = plain(s.in(i))
		if w := s.in(i); s.t.IsVariadic() && i == len(in)-1 && w.d != nil {
			in[i] = reflect.SliceOf(plain(w.elem()))
		}
	}
	for i := range out {
		out[i] = plain(s.out(i))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, s.t.IsVariadic()), func(raw []reflect.Value) []reflect.Value {
		var args []ReflectValue
		for i, x := range raw {
			if s.t.IsVariadic() && i == len(in)-1 {
				for j := range x.Len() {
					args = append(args, r.fromTemplate(x.Index(j), s.in(i).elem()))
				}
				continue
			}
			args = append(args, r.fromTemplate(x, s.in(i)))
		}
		results := f.Call(args)
		converted := make([]reflect.Value, len(results))
		for i, x := range results {
			converted[i] = x.Value
			if s.out(i).d != nil {
				c := templateData{registry: r, names: r.templateNames()}
				y, err := c.all(x.Interface())
				if err != nil {
					panic(err)
				}
				converted[i] = argument(&y)
			}
		}
		return converted
	}).Interface()
}

// fromTemplate is a value that a template hands to a parameter of type w.
func (r *Registry) fromTemplate(x reflect.Value, w view) ReflectValue {
	if w.d == nil {
		return r.reflected(x, nil)
	}
	held := x.Interface()
	if o, ok := held.(object); ok {
		held = o[self]
	}
	if held == nil {
		return r.reflected(reflect.Zero(w.t), w.d)
	}
	v := r.ReflectValueOf(held)
	if v.d != w.d && w.kind() != reflect.Interface {
		if b := basicKind(w.kind()) && basicKind(v.Kind()) && v.CanConvert(r.reflectType(w)); b || v.Value.Type() == w.t {
			// A constant of the template, or a value without methods, which it has raw.
			return r.reflected(v.Value.Convert(w.t), w.d)
		}
		if v.Kind() == reflect.Pointer && v.Elem().d == w.d && !v.IsNil() {
			return v.Elem()
		}
	}
	return v
}

// templateNames are the names of fields and methods in the templates that have
// been executed.
func (r *Registry) templateNames() map[string]bool {
	names := map[string]bool{}
	r.names.Range(func(name, _ any) bool {
		names[name.(string)] = true
		return true
	})
	return names
}
