package rt

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"text/template"
)

// newTemplateBuiltins returns the functions that are defined in every template.
func (r *Registry) newTemplateBuiltins() map[string]any {
	pass := func(first ReflectValue, _ ...ReflectValue) ReflectValue { return first }
	return map[string]any{
		"and":  pass, // see shortCircuit
		"or":   pass,
		"call": pass, // see templateCall
		"not":  func(x ReflectValue) bool { return !isTrue(x) },

		"html":     r.htmlEscaper,
		"js":       r.jsEscaper,
		"urlquery": r.urlQueryEscaper,
		"print":    r.Sprint,
		"printf":   r.Sprintf,
		"println":  r.Sprintln,

		"index": r.templateIndex,
		"slice": templateSlice,
		"len":   templateLen,

		"eq": templateEqual,
		"ne": func(x, y ReflectValue) (bool, error) {
			equal, err := templateEqual(x, y)
			return !equal, err
		},
		"lt": templateLess,
		"le": templateLessOrEqual,
		"gt": func(x, y ReflectValue) (bool, error) {
			lessOrEqual, err := templateLessOrEqual(x, y)
			return err == nil && !lessOrEqual, err
		},
		"ge": func(x, y ReflectValue) (bool, error) {
			less, err := templateLess(x, y)
			return err == nil && !less, err
		},
	}
}

// templateEscapers returns the replacements for functions of text/template and
// html/template.
func (r *Registry) templateEscapers() map[string]reflect.Value {
	return map[string]reflect.Value{
		"HTMLEscaper":     reflect.ValueOf(r.htmlEscaper),
		"JSEscaper":       reflect.ValueOf(r.jsEscaper),
		"URLQueryEscaper": reflect.ValueOf(r.urlQueryEscaper),
	}
}

func (r *Registry) htmlEscaper(args ...any) string {
	return template.HTMLEscapeString(r.templateText(args))
}

func (r *Registry) jsEscaper(args ...any) string {
	return template.JSEscapeString(r.templateText(args))
}

func (r *Registry) urlQueryEscaper(args ...any) string { return url.QueryEscape(r.templateText(args)) }

// templateText returns the text of several values that is then escaped.
func (r *Registry) templateText(args []any) string {
	if len(args) == 1 {
		if s, ok := args[0].(string); ok {
			return s
		}
	}
	for i, x := range args {
		if x, ok := r.printable(r.ReflectValueOf(x)); ok {
			args[i] = x
		}
	}
	return r.Sprint(args...)
}

// forEscaper returns v as a function of html/template must see it. It dereferences pointers
// unless they have methods that the function calls. It hides the method MarshalJSON, which
// all boxes have, if it would keep a String method from being called.
func (r *Registry) forEscaper(v ReflectValue) ReflectValue {
	if !concrete(v).IsValid() {
		return v
	}
	for v = concrete(v); v.Kind() == reflect.Pointer && v.d != nil && !v.IsNil() && !printsItself(v.Type()) && !v.view().has(marshalJSON); {
		v = v.Elem()
	}
	if v.d == nil || !v.IsValid() || !v.CanInterface() || !v.Type().Implements(stringerType) || v.view().has(marshalJSON) {
		return v
	}
	return r.reflected(reflect.ValueOf(boxWithoutJSON{Box{v.d, v.Value.Interface()}}), nil)
}

var scriptTag = regexp.MustCompile("(?i)<(/?)script")

// forScript returns v as html/template must see it to write it in a script: as encoded JSON
// if it may hold values of cells. If it cannot be encoded, failure is the comment that
// html/template writes in this case.
func (r *Registry) forScript(v ReflectValue) (_ ReflectValue, failure string) {
	if v = concrete(v); !v.IsValid() || !v.CanInterface() {
		return v, ""
	}
	x := v.Interface()
	if _, ok := x.(boxWithoutJSON); ok || !r.mayHoldBox([]any{x}) {
		return v, ""
	}
	text, err := r.JSONMarshal(x)
	if err != nil {
		reason := scriptTag.ReplaceAllString(err.Error(), `\x3C${1}script`)
		reason = strings.ReplaceAll(reason, "*/", "* /")
		return v, " /* " + strings.ReplaceAll(reason, "<!--", `\x3C!--`) + " */null "
	}
	return r.reflected(reflect.ValueOf(json.RawMessage(text)), nil), ""
}

// boxWithoutJSON is a box that implements fmt.Stringer but not json.Marshaler.
type boxWithoutJSON struct{ b Box }

func (s boxWithoutJSON) box() Box { return s.b }

// String implements fmt.Stringer.
func (s boxWithoutJSON) String() string { return s.b.stringText() }

// Format implements fmt.Formatter.
func (s boxWithoutJSON) Format(f fmt.State, verb rune) { s.b.Format(f, verb) }

// templateArgument returns v as an argument of type t, for a map lookup or for a call of a
// function in the data.
func (r *Registry) templateArgument(v ReflectValue, t reflect.Type) (ReflectValue, error) {
	if !v.IsValid() {
		if !canBeNil(t) {
			return v, fmt.Errorf("value is nil; should be of type %s", t)
		}
		v = r.ReflectZero(t)
	}
	switch have := v.Type(); {
	case r.TypeAssignableTo(have, t):
		return v, nil
	case integer(have.Kind()) && integer(t.Kind()):
		return v.Convert(t), nil
	default:
		return v, fmt.Errorf("value has type %s; should be %s", have, t)
	}
}

func integer(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Uintptr }

// templateIndex evaluates x[indices[0]][indices[1]]...
func (r *Registry) templateIndex(x ReflectValue, indices ...ReflectValue) (ReflectValue, error) {
	if x = concrete(x); !x.IsValid() {
		return x, errors.New("index of untyped nil")
	}
	for _, index := range indices {
		index = concrete(index)
		var null bool
		if x, null = indirection(x); null {
			return x, errors.New("index of nil pointer")
		}
		switch x.Kind() {
		case reflect.Array, reflect.Slice, reflect.String:
			i, err := templatePosition(index, x.Len())
			if err != nil {
				return x, err
			}
			x = x.Index(i)
		case reflect.Map:
			key, err := r.templateArgument(index, x.Type().Key())
			if err != nil {
				return x, err
			}
			value := x.MapIndex(key)
			if !value.IsValid() {
				value = r.ReflectZero(x.Type().Elem())
			}
			x = value
		default:
			return x, fmt.Errorf("can't index item of type %s", x.Type())
		}
	}
	return x, nil
}

// templatePosition returns an index as an int, and an error if it is greater than limit.
func templatePosition(index ReflectValue, limit int) (int, error) {
	var i int64
	switch k := index.Kind(); {
	case index.CanInt():
		i = index.Int()
	case index.CanUint():
		i = int64(index.Uint())
	case k == reflect.Invalid:
		return 0, errors.New("cannot index slice/array with nil")
	default:
		return 0, fmt.Errorf("cannot index slice/array with type %s", index.Type())
	}
	if i < 0 || int64(int(i)) != i || int(i) > limit {
		return 0, fmt.Errorf("index out of range: %d", i)
	}
	return int(i), nil
}

// templateSlice evaluates x[indices[0]:indices[1]:indices[2]] with up to three indices.
func templateSlice(x ReflectValue, indices ...ReflectValue) (ReflectValue, error) {
	if x = concrete(x); !x.IsValid() {
		return x, errors.New("slice of untyped nil")
	}
	x, null := indirection(x)
	if null {
		return x, errors.New("slice of nil pointer")
	}
	if len(indices) > 3 {
		return x, fmt.Errorf("too many slice indexes: %d", len(indices))
	}
	limit := 0
	switch x.Kind() {
	case reflect.String:
		if len(indices) == 3 {
			return x, errors.New("cannot 3-index slice a string")
		}
		limit = x.Len()
	case reflect.Array, reflect.Slice:
		limit = x.Cap()
	default:
		return x, fmt.Errorf("can't slice item of type %s", x.Type())
	}
	bounds := [3]int{0, x.Len()}
	for i, index := range indices {
		var err error
		if bounds[i], err = templatePosition(index, limit); err != nil {
			return x, err
		}
	}
	if bounds[0] > bounds[1] {
		return x, fmt.Errorf("invalid slice index: %d > %d", bounds[0], bounds[1])
	}
	if len(indices) < 3 {
		return x.Slice(bounds[0], bounds[1]), nil
	}
	if bounds[1] > bounds[2] {
		return x, fmt.Errorf("invalid slice index: %d > %d", bounds[1], bounds[2])
	}
	return x.Slice3(bounds[0], bounds[1], bounds[2]), nil
}

func templateLen(x ReflectValue) (int, error) {
	x, null := indirection(x)
	if null {
		return 0, errors.New("len of nil pointer")
	}
	switch x.Kind() {
	case reflect.Array, reflect.Chan, reflect.Map, reflect.Slice, reflect.String:
		return x.Len(), nil
	case reflect.Invalid:
		return 0, &reflect.ValueError{Method: "reflect.Value.Type", Kind: reflect.Invalid}
	}
	return 0, fmt.Errorf("len of type %s", x.Type())
}

// templateCall implements the function call. name is the text of its first argument.
func (r *Registry) templateCall(name string, f ReflectValue, args ...ReflectValue) (ReflectValue, error) {
	if f = concrete(f); !f.IsValid() {
		return f, errors.New("call of nil")
	}
	t := f.Type()
	if t.Kind() != reflect.Func {
		return f, fmt.Errorf("non-function %s of type %s", name, t)
	}
	if err := goodFunc(name, t); err != nil {
		return f, err
	}
	n := t.NumIn()
	switch {
	case t.IsVariadic() && len(args) < n-1:
		return f, fmt.Errorf("wrong number of args for %s: got %d want at least %d", name, len(args), n-1)
	case !t.IsVariadic() && len(args) != n:
		return f, fmt.Errorf("wrong number of args for %s: got %d want %d", name, len(args), n)
	}
	values := make([]ReflectValue, len(args))
	for i, x := range args {
		var want reflect.Type
		if t.IsVariadic() && i >= n-1 {
			want = t.In(n - 1).Elem()
		} else {
			want = t.In(i)
		}
		var err error
		if values[i], err = r.templateArgument(concrete(x), want); err != nil {
			return f, fmt.Errorf("arg %d: %w", i, err)
		}
	}
	return r.safeCall(f, values)
}
