package rt

import (
	"errors"
	"fmt"
	"go/types"
	htmltemplate "html/template"
	"io"
	"maps"
	"reflect"
	"text/template"
	"text/template/parse"
)

// TemplateExecute is t.Execute(w, data), or t.ExecuteTemplate(w, name, data) if
// the name is not empty, for a template of text/template or html/template.
//
// Templates find methods by reflection, which sees none on the raw values of
// cells. So data is converted first: a struct of a cell becomes a map of its
// exported fields and of the results of those methods without parameters that
// the template names, a named value with a method String or Error stays a box,
// which prints itself. Methods with parameters cannot be called; all methods
// are called before the template runs, also those in branches not taken.
func (r *Registry) TemplateExecute(t any, w io.Writer, name string, data any) error {
	c := templateData{registry: r, names: map[string]bool{}}
	switch t := t.(type) {
	case *template.Template:
		for _, t := range append(t.Templates(), t) {
			c.collect(t.Tree)
		}
		t.Funcs(r.templatePrinters())
		data, err := c.all(data)
		switch {
		case err != nil:
			return err
		case name != "":
			return t.ExecuteTemplate(w, name, data)
		}
		return t.Execute(w, data)
	case *htmltemplate.Template:
		for _, t := range append(t.Templates(), t) {
			c.collect(t.Tree)
		}
		t.Funcs(r.templatePrinters())
		data, err := c.all(data)
		switch {
		case err != nil:
			return err
		case name != "":
			return t.ExecuteTemplate(w, name, data)
		}
		return t.Execute(w, data)
	}
	return fmt.Errorf("cannot execute a template of type %T", t)
}

// object is a struct of a cell as a template sees it.
type object map[string]any

// self is the key of the box that an object stands for. No template can name it.
const self = "\x00"

// Format prints the value that the object stands for.
func (o object) Format(f fmt.State, verb rune) { o[self].(fmt.Formatter).Format(f, verb) }

// MarshalJSON encodes that value, for html/template in a script.
func (o object) MarshalJSON() ([]byte, error) {
	return o[self].(interface{ MarshalJSON() ([]byte, error) }).MarshalJSON()
}

// noField stands under a name that the struct does not have. Templates refuse
// to print a channel, and tell its type.
type noField chan struct{}

// templateData converts the data of one execution.
type templateData struct {
	registry *Registry
	names    map[string]bool // of fields and methods in the template
	objects  map[objectKey]object
	depth    int // of methods that are called on what methods gave
	most     int // what depth may be
	calls    int // of methods
}

// Some methods give values of their own type without end. So methods are called
// on what methods gave to a certain depth only, less where these are many.
const (
	maxTemplateDepth = 8
	maxTemplateCalls = 5000
)

var errManyCalls = errors.New("too many methods are called")

// all converts the data of an execution.
func (c *templateData) all(x any) (data any, err error) {
	for c.most = maxTemplateDepth; c.most > 0; c.most-- {
		c.objects, c.depth, c.calls = map[objectKey]object{}, 0, 0
		if data, err = c.convertAny(x); !errors.Is(err, errManyCalls) {
			return data, err
		}
	}
	return nil, fmt.Errorf("template: %w", err)
}

// objectKey tells what pointers have been converted, since data may be cyclic.
type objectKey struct {
	typ     *Type
	address any
}

// collect notes the names that a template uses.
func (c *templateData) collect(tree *parse.Tree) {
	if tree != nil && tree.Root != nil {
		c.walk(reflect.ValueOf(tree.Root))
	}
}

// walk looks for names in a node by reflection: the kinds of nodes are many,
// and each keeps its parts in exported fields.
func (c *templateData) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*parse.Tree]() {
			return
		}
		switch n := v.Interface().(type) {
		case *parse.FieldNode:
			c.note(n.Ident)
		case *parse.ChainNode:
			c.note(n.Field)
		case *parse.VariableNode:
			c.note(n.Ident[1:])
		}
		c.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.walk(v.Index(i))
		}
	}
}

func (c *templateData) note(names []string) {
	for _, name := range names {
		c.names[name] = true
		c.registry.names.Store(name, nil)
	}
}

func (c *templateData) convertAny(x any) (any, error) {
	if x == nil {
		return nil, nil
	}
	w, v := c.registry.viewOf(reflect.ValueOf(x))
	return c.convert(w, v)
}

// convert returns v as the template gets it.
func (c *templateData) convert(w view, v reflect.Value) (any, error) {
	if w.d == nil && v.Kind() != reflect.Interface && c.registry.jsonHoldsNoBox(v.Type()) {
		return v.Interface(), nil
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		return c.convertAny(v.Interface())
	case reflect.Pointer:
		if w.d != nil && !v.IsNil() && v.Elem().Kind() == reflect.Struct {
			return c.object(w, v)
		}
	case reflect.Struct:
		if w.d != nil {
			return c.object(w, v)
		}
	case reflect.Slice, reflect.Array:
		if !prints(w) {
			return c.list(w, v)
		}
	case reflect.Map:
		if !prints(w) {
			return c.mapping(w, v)
		}
	case reflect.Func:
		if w.d != nil && !v.IsNil() {
			return c.registry.templateFunc(c.registry.reflected(v, w.d)), nil
		}
	}
	if prints(w) {
		b := w.d.box(v.Interface())
		if _, ok := b.(fmt.Stringer); ok && !w.d.set.Load().has("MarshalJSON") {
			return templateStringer{b.(boxed).box()}, nil
		}
		return b, nil
	}
	return v.Interface(), nil
}

// templateStringer is a box that is no json.Marshaler: html/template writes a
// Stringer into a script by its String method only then.
type templateStringer struct{ b Box }

func (s templateStringer) box() Box { return s.b }

// String implements fmt.Stringer.
func (s templateStringer) String() string { return s.b.stringText() }

// Format implements fmt.Formatter.
func (s templateStringer) Format(f fmt.State, verb rune) { s.b.Format(f, verb) }

// prints reports whether fmt calls a method of the interpreted type.
func prints(w view) bool {
	return w.d != nil && (int(w.d.class.Load())&(classError|classStringer) != 0 ||
		w.d.set.Load().hasSignature("Format", "func(fmt.State, int32)"))
}

func (c *templateData) list(w view, v reflect.Value) (any, error) {
	list := make([]any, v.Len())
	for i := range list {
		x, err := c.convert(w.elem(), v.Index(i))
		if err != nil {
			return nil, err
		}
		list[i] = x
	}
	return list, nil
}

func (c *templateData) mapping(w view, v reflect.Value) (any, error) {
	m := reflect.MakeMapWithSize(reflect.MapOf(v.Type().Key(), anyType), v.Len())
	for i := v.MapRange(); i.Next(); {
		x, err := c.convert(w.elem(), i.Value())
		if err != nil {
			return nil, err
		}
		m.SetMapIndex(i.Key(), argument(&x))
	}
	return m.Interface(), nil
}

// object converts a struct, or a pointer to one, with what the template names.
func (c *templateData) object(w view, v reflect.Value) (any, error) {
	box := Box{w.d, v.Interface()}
	key := objectKey{w.d, nil}
	if v.Kind() == reflect.Pointer {
		key.address = v.UnsafePointer()
		if known, ok := c.objects[key]; ok {
			return known, nil
		}
	}
	o := object{self: w.d.box(v.Interface())}
	if key.address != nil {
		c.objects[key] = o
	}
	t := typeWrapper{w.t, w.d}
	for name := range maps.Keys(c.names) {
		if m := t.find(name); m != nil {
			x, err := c.call(box, name)
			if errors.Is(err, errManyCalls) {
				return nil, err
			}
			if err != nil {
				return nil, fmt.Errorf("template: error calling %s: %w", name, err)
			}
			o[name] = x
			continue
		}
		x, ok, err := c.fieldNamed(w, v, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			x = make(noField)
		}
		o[name] = x
	}
	return o, nil
}

// fieldNamed is the exported field of that name, which may be promoted.
func (c *templateData) fieldNamed(w view, v reflect.Value, name string) (any, bool, error) {
	if w.kind() == reflect.Pointer {
		w, v = w.elem(), v.Elem()
	}
	if w.d == nil {
		return nil, false, nil
	}
	f, ok := typeWrapper{w.t, w.d}.FieldByName(name)
	if !ok || !f.IsExported() {
		return nil, false, nil
	}
	for _, i := range f.Index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return nil, false, nil
			}
			w, v = w.elem(), v.Elem()
		}
		_, w = w.field(i)
		v = v.Field(i)
	}
	x, err := c.convert(w, v)
	return x, true, err
}

// call calls a method without parameters. One that a template could not call
// counts as a field that is not there.
func (c *templateData) call(b Box, name string) (x any, err error) {
	m := b.method(name)
	f := m.value.Type()
	withError := f.NumOut() == 2 && f.Out(1) == errorType
	if f.NumIn() != 1 || f.NumOut() != 1 && !withError || c.depth == c.most {
		return make(noField), nil
	}
	if c.calls++; c.calls > maxTemplateCalls {
		return nil, errManyCalls
	}
	defer func() {
		if cause := recover(); cause != nil {
			if c.registry.config.Uncaught(cause) {
				panic(cause)
			}
			err = fmt.Errorf("%v", Recovered(cause))
		}
	}()
	out := m.call(b)
	if withError {
		if err := result[error](out, 1); err != nil {
			return nil, err
		}
	}
	c.depth++
	defer func() { c.depth-- }()
	signature := b.T.set.Load().find(name).Type().(*types.Signature)
	return c.convert(view{c.registry.child(signature.Results().At(0).Type()), f.Out(0)}, out[0])
}
