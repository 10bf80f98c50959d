package rt

import (
	"iter"
	"reflect"
)

// replacedType is the reflect.Type of a compiled type that mentions a type of this package, which replaces one of package
// reflect in cells. Its names and fields are those of the type in package reflect.
type replacedType struct {
	reflect.Type // as it is
}

func (replacedType) compiledName() string { return "*reflect.rtype" }

// replacedTypes maps the types that replace others in cells to these.
var replacedTypes = map[reflect.Type]reflect.Type{
	reflect.TypeFor[ReflectValue]():      reflect.TypeFor[reflect.Value](),
	reflect.TypeFor[ReflectMethod]():     reflect.TypeFor[reflect.Method](),
	reflect.TypeFor[ReflectMapIter]():    reflect.TypeFor[reflect.MapIter](),
	reflect.TypeFor[ReflectSelectCase](): reflect.TypeFor[reflect.SelectCase](),
}

// compiledType returns the reflect.Type that cells see for a compiled type.
func compiledType(t reflect.Type) reflect.Type {
	switch {
	case isTypeWrapper(t):
		return reflect.TypeOf(t) // *reflect.rtype
	case mentionsReplaced(t):
		return replacedType{t}
	}
	return t
}

// mentionsReplaced reports whether a type is or contains one that replaces another.
func mentionsReplaced(t reflect.Type) bool {
	if t.Name() != "" {
		return replacedTypes[t] != nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return mentionsReplaced(t.Elem())
	case reflect.Map:
		return mentionsReplaced(t.Key()) || mentionsReplaced(t.Elem())
	case reflect.Func:
		for in := range t.Ins() {
			if mentionsReplaced(in) {
				return true
			}
		}
		for out := range t.Outs() {
			if mentionsReplaced(out) {
				return true
			}
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if mentionsReplaced(f.Type) {
				return true
			}
		}
	case reflect.Interface:
		for m := range t.Methods() {
			if mentionsReplaced(m.Type) {
				return true
			}
		}
	}
	return false
}

// declared returns the type in package reflect that has the name and the fields of t.
func (t replacedType) declared() reflect.Type {
	if d := replacedTypes[t.Type]; d != nil {
		return d
	}
	return t.Type
}

func (t replacedType) Name() string           { return t.declared().Name() }
func (t replacedType) PkgPath() string        { return t.declared().PkgPath() }
func (t replacedType) String() string         { return compiledName(t.Type) }
func (t replacedType) Elem() reflect.Type     { return compiledType(t.Type.Elem()) }
func (t replacedType) Key() reflect.Type      { return compiledType(t.Type.Key()) }
func (t replacedType) In(i int) reflect.Type  { return compiledType(t.Type.In(i)) }
func (t replacedType) Out(i int) reflect.Type { return compiledType(t.Type.Out(i)) }

// Ins implements reflect.Type.
func (t replacedType) Ins() iter.Seq[reflect.Type] { return compiledTypes(t.Type.Ins()) }

// Outs implements reflect.Type.
func (t replacedType) Outs() iter.Seq[reflect.Type] { return compiledTypes(t.Type.Outs()) }

func compiledTypes(list iter.Seq[reflect.Type]) iter.Seq[reflect.Type] {
	return func(yield func(reflect.Type) bool) {
		for t := range list {
			if !yield(compiledType(t)) {
				return
			}
		}
	}
}

// Method implements reflect.Type.
func (t replacedType) Method(i int) reflect.Method { return compiledMethod(t.Type.Method(i)) }

// MethodByName implements reflect.Type.
func (t replacedType) MethodByName(name string) (reflect.Method, bool) {
	m, ok := t.Type.MethodByName(name)
	return compiledMethod(m), ok
}

// Methods implements reflect.Type.
func (t replacedType) Methods() iter.Seq[reflect.Method] {
	return func(yield func(reflect.Method) bool) {
		for m := range t.Type.Methods() {
			if !yield(compiledMethod(m)) {
				return
			}
		}
	}
}

func compiledMethod(m reflect.Method) reflect.Method {
	if m.Type != nil {
		m.Type = compiledType(m.Type)
	}
	return m
}

// NumField implements reflect.Type.
func (t replacedType) NumField() int {
	return t.fields().NumField()
}

// Field implements reflect.Type.
func (t replacedType) Field(i int) reflect.StructField {
	f, _ := compiledField(t.fields().Field(i), true)
	return f
}

// Fields implements reflect.Type.
func (t replacedType) Fields() iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// FieldByIndex implements reflect.Type.
func (t replacedType) FieldByIndex(index []int) reflect.StructField {
	f := t.Field(index[0])
	if len(index) == 1 {
		return f
	}
	inner := f.Type
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	return inner.FieldByIndex(index[1:])
}

// FieldByName implements reflect.Type.
func (t replacedType) FieldByName(name string) (reflect.StructField, bool) {
	return compiledField(t.fields().FieldByName(name))
}

// FieldByNameFunc implements reflect.Type.
func (t replacedType) FieldByNameFunc(match func(string) bool) (reflect.StructField, bool) {
	return compiledField(t.fields().FieldByNameFunc(match))
}

// fields returns the type that has the fields: that in package reflect if the replacement has others.
func (t replacedType) fields() reflect.Type {
	if t.Type == reflect.TypeFor[ReflectValue]() || t.Type == reflect.TypeFor[ReflectMapIter]() {
		return t.declared()
	}
	return t.Type
}

func compiledField(f reflect.StructField, ok bool) (reflect.StructField, bool) {
	if ok {
		f.Type = compiledType(f.Type)
	}
	return f, ok
}

// withoutReplacement returns v, or the value of type reflect.Value in it if v is one of our type, which has the fields of that.
func withoutReplacement(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Struct && v.Type() == reflect.TypeFor[ReflectValue]() {
		return v.Field(0)
	}
	return v
}
