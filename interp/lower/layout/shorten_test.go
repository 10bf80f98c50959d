package layout

import (
	"fmt"
	"reflect"
	"testing"
)

// TestShorten checks that the strings of lowered types do not grow with the structs inside them, and that each type is
// still the one that reflect.StructOf creates.
func TestShorten(t *testing.T) {
	t.Parallel()
	text := "type T0 struct { A, B int64 }\n"
	for i := range 40 { // without short strings, that of each struct would be twice as long as the previous one
		text += fmt.Sprintf("type T%d struct { First *T%d; Second []*T%d; Third int }\n", i+1, i, i)
	}
	lookup, b := declared(t, text+"type Loop struct { Next *Loop; Deep *T40 }\n"), newBuilder()
	strings := map[string]string{}
	for _, name := range []string{"T0", "T5", "T39", "T40", "Loop"} {
		made, err := b.Reflect(lookup(name))
		if err != nil {
			t.Fatal(err)
		}
		if len(made.String()) > 3*longest {
			t.Errorf("the string of %s has %d bytes", name, len(made.String()))
		}
		if other, ok := strings[made.String()]; ok {
			t.Errorf("%s and %s have the same string", name, other)
		}
		strings[made.String()] = name
		if name == "Loop" { // the types of its fields were set after its creation
			continue
		}
		var fields []reflect.StructField
		for i := range made.NumField() {
			fields = append(fields, reflect.StructField{Name: made.Field(i).Name, Type: made.Field(i).Type})
		}
		if reflect.StructOf(fields) != made {
			t.Errorf("reflect.StructOf has another type for the fields of %s", name)
		}
	}
}
