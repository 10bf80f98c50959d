package rt

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
)

// TestReflection compares the replacements for package reflect with the original: names,
// signatures and methods.
func TestReflection(t *testing.T) {
	table := New(Config{}).reflection()
	real := map[string]any{
		"Value": (*reflect.Value)(nil), "Method": (*reflect.Method)(nil), "MapIter": (*reflect.MapIter)(nil), "SelectCase": (*reflect.SelectCase)(nil),
		"Append": reflect.Append, "AppendSlice": reflect.AppendSlice, "ArrayOf": reflect.ArrayOf, "ChanOf": reflect.ChanOf,
		"Copy": reflect.Copy, "DeepEqual": reflect.DeepEqual, "FuncOf": reflect.FuncOf, "Indirect": reflect.Indirect,
		"MakeChan": reflect.MakeChan, "MakeFunc": reflect.MakeFunc, "MakeMap": reflect.MakeMap, "MakeMapWithSize": reflect.MakeMapWithSize,
		"MakeSlice": reflect.MakeSlice, "MapOf": reflect.MapOf, "New": reflect.New, "NewAt": reflect.NewAt, "PointerTo": reflect.PointerTo,
		"PtrTo": reflect.PointerTo, "Select": reflect.Select, "SliceAt": reflect.SliceAt, "SliceOf": reflect.SliceOf, "StructOf": reflect.StructOf,
		"Swapper": reflect.Swapper, "TypeOf": reflect.TypeOf, "ValueOf": reflect.ValueOf, "Zero": reflect.Zero,
	}
	if len(table) != len(real) {
		t.Errorf("%d names, want %d", len(table), len(real))
	}
	for name, want := range real {
		have, want := table[name], reflect.TypeOf(want)
		if !have.IsValid() || compiledName(have.Type()) != want.String() {
			t.Errorf("%s is a %v, want %s", name, have, want)
			continue
		}
		if want.Kind() != reflect.Pointer {
			continue
		}
		for m := range want.Methods() {
			own, ok := have.Type().MethodByName(m.Name)
			if !ok || compiledName(own.Type) != m.Type.String() {
				t.Errorf("%s.%s is a %v, want %s", name, m.Name, own.Type, m.Type)
			}
		}
		if want.Elem().Kind() == reflect.Struct && name != "Value" && name != "MapIter" {
			for f := range want.Elem().Fields() {
				own, ok := have.Type().Elem().FieldByName(f.Name)
				if !ok || compiledName(own.Type) != f.Type.String() {
					t.Errorf("%s.%s is a %v, want %s", name, f.Name, own.Type, f.Type)
				}
			}
		}
	}
}

// TestUnexported fails if the standard library changes the flags of reflect.Value.
func TestUnexported(t *testing.T) {
	type inner struct{ A, b int }
	var x struct {
		A int
		a int
		inner
	}
	x.a, x.b = 1, 2
	v := reflect.ValueOf(&x).Elem()
	for i, embedded := range []bool{false, false, true} {
		want, have := v.Field(i), v.Field(0)
		if i > 0 {
			have = unexported(exported(v.Field(i)), embedded)
		}
		if want.CanSet() != have.CanSet() || want.CanInterface() != have.CanInterface() || want.CanAddr() != have.CanAddr() {
			t.Errorf("field %d: the marks differ", i)
		}
		if exported(want).CanInterface() != true {
			t.Errorf("field %d: the mark is not removed", i)
		}
	}
	if !unexported(exported(v.Field(2)), true).Field(0).CanSet() {
		t.Error("the exported field of an embedded struct cannot be set")
	}
	if unexported(exported(v.Field(2)), false).Field(0).CanSet() {
		t.Error("the exported field of an unexported field can be set")
	}
	runtime.KeepAlive(&x)
}

// TestReflectFormat checks that a Value prints as the value that it holds.
func TestReflectFormat(t *testing.T) {
	r := New(Config{})
	for _, x := range []any{1, "a", []any{1, "b"}, map[string]int{"a": 1}, struct{ A, b int }{1, 2}, fmt.Errorf("e"), (*int)(nil)} {
		for _, format := range []string{"%v", "%+v", "%#v", "%5v|", "%s", "%d", "%T"} {
			if have, want := r.Sprintf(format, r.ReflectValueOf(x)), fmt.Sprintf(format, reflect.ValueOf(x)); have != want {
				t.Errorf("%s of %#v: got %s, want %s", format, x, have, want)
			}
		}
	}
	if have, want := r.Sprint(ReflectValue{}), fmt.Sprint(reflect.Value{}); have != want {
		t.Errorf("got %s, want %s", have, want)
	}
	if have := r.Sprintf("%T", []ReflectValue{}); have != "[]reflect.Value" {
		t.Errorf("got %s", have)
	}
}
