package magic

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/quernlab/quern/display"
)

var who = command{
	name: "%who", usage: "%who", doc: "lists the variables with their types, sizes and values", alone: true,
	prepare: func(text string) (action, error) {
		return func(_ context.Context, r *Run, values []any) error {
			variables := r.session.Variables()
			if len(variables) == 0 {
				_, err := fmt.Fprintln(r.session.Stdout(), "no variables")
				return err
			}
			w := tabwriter.NewWriter(r.session.Stdout(), 0, 8, 2, ' ', 0)
			for i, v := range variables {
				value, text := reflect.ValueOf(values[i]), r.session.Text
				if callsCells(value, 0) {
					text = ofFields
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Name, v.Type, size(value), short(text(values[i])))
			}
			return w.Flush()
		}, noArgument("%who", text)
	},
}

// callsCells reports whether the text of a value may call a method of a type that a cell has declared, which could
// be slow, print, or change the value. It looks at most at maxDepth levels.
func callsCells(v reflect.Value, depth int) bool {
	if !v.IsValid() || depth == maxDepth {
		return v.IsValid()
	}
	t := v.Type()
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

// size returns the number of elements of a value, and the memory that they take without what they point to.
func size(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String, reflect.Array, reflect.Slice:
		bytes := v.Len()
		if v.Kind() != reflect.String {
			bytes *= int(v.Type().Elem().Size())
		}
		return display.Integer(v.Len()) + ", " + memory(bytes)
	case reflect.Map, reflect.Chan:
		return display.Integer(v.Len())
	}
	return ""
}

// memory returns a number of bytes in a unit that leaves at most three digits.
func memory(bytes int) string {
	value, unit := float64(bytes), "B"
	for _, larger := range []string{"kB", "MB", "GB", "TB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, larger
	}
	return fmt.Sprintf("%.3g %s", value, unit)
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
