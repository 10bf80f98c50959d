package magic

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"
)

var who = command{
	name: "%who", usage: "%who", doc: "lists the variables with their types, sizes, memory and values", alone: true,
	prepare: func(text string) (action, error) {
		return func(_ context.Context, r *Run, values []any) error {
			variables := r.session.Variables()
			if len(variables) == 0 {
				_, err := fmt.Fprintln(r.session.Stdout(), "no variables")
				return err
			}
			w := tabwriter.NewWriter(r.session.Stdout(), 0, 8, 2, ' ', 0)
			for i, v := range variables {
				value := reflect.ValueOf(values[i])
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Name, v.Type, size(value), short(r.valueText(value)))
			}
			return w.Flush()
		}, noArgument("%who", text)
	},
}

// valueText returns the text of a value, without methods of cells and without running the ops of tensors.
func (r *Run) valueText(v reflect.Value) string {
	if !v.IsValid() {
		return r.session.Text(nil)
	}
	if text, ok := describe(v, false); ok {
		return text
	}
	if v.Kind() == reflect.Slice && isShaped(v.Type().Elem()) {
		var texts []string
		for i := range min(v.Len(), maxValue) {
			text, ok := describe(v.Index(i), true)
			if !ok {
				text = "<nil>"
			}
			texts = append(texts, text)
		}
		return "[" + strings.Join(texts, " ") + "]"
	}
	if callsCells(v, 0) {
		return ofFields(v.Interface())
	}
	return r.session.Text(v.Interface())
}

// callsCells reports whether the text of a value may call a method of a type that a cell has declared, which could
// be slow, print, or change the value, or run the ops of a tensor. It looks at most at maxDepth levels.
func callsCells(v reflect.Value, depth int) bool {
	if !v.IsValid() || depth == maxDepth {
		return v.IsValid()
	}
	t := v.Type()
	if isShaped(t) {
		return true
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() == "main" && t.Kind() != reflect.Interface && reflect.PointerTo(t).NumMethod() > 0 {
		return true
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return callsCells(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if k := t.Elem().Kind(); t.Elem().PkgPath() == "" && (k < reflect.Array || k == reflect.String) {
			return false
		}
		for i := range v.Len() {
			if callsCells(v.Index(i), depth+1) {
				return true
			}
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if callsCells(i.Key(), depth+1) || callsCells(i.Value(), depth+1) {
				return true
			}
		}
	case reflect.Struct:
		if t.PkgPath() != "" && t.PkgPath() != "main" {
			return false // its package decides what its text is
		}
		for _, field := range v.Fields() {
			if callsCells(field, depth+1) {
				return true
			}
		}
	}
	return false
}

// maxDepth is how deep values are examined: those that contain themselves have no end.
const maxDepth = 20

// ofFields returns the text of a value without calling its methods: package fmt calls none of what it finds in
// unexported fields.
func ofFields(value any) string {
	prefix := ""
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().CanInterface() {
		prefix, value = "&", v.Elem().Interface()
	}
	text := fmt.Sprintf("%+v", struct{ v any }{value})
	return prefix + strings.TrimSuffix(strings.TrimPrefix(text, "{v:"), "}")
}

// maxValue is the maximal width of a value in a list, in characters.
const maxValue = 60

// short returns the text of a value as one line. A text over several lines begins with the type of the value,
// which the list has already.
func short(text string) string {
	if strings.Contains(text, "\n") {
		if typ, rest, ok := strings.Cut(text, "{\n"); ok && !strings.Contains(typ, "\n") {
			if text = "{" + strings.TrimLeft(rest, " "); typ[:min(1, len(typ))] == "&" {
				text = "&" + text
			}
		}
		text = strings.Join(strings.Fields(text), " ")
	}
	if r := []rune(text); len(r) > maxValue {
		text = string(r[:maxValue]) + "…"
	}
	return text
}
