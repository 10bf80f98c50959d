package nn

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// Replace replaces the module with this name, as [NamedModules] has it, by another one. A module in a
// struct must be in an exported field that can hold the other one. If there is no such module,
// Replace returns a *tensor.StateError and changes nothing.
func Replace(model any, name string, by Module) error {
	wrong := func(hint string) error {
		return &tensor.StateError{Op: "Replace", Hint: fmt.Sprintf("%q %s", name, hint)}
	}
	if by == nil {
		return wrong("cannot become nil")
	}
	at := reflect.ValueOf(model)
	rest := strings.Split(name, ".")
	for len(rest) > 0 {
		for at.Kind() == reflect.Interface {
			at = at.Elem()
		}
		if !at.IsValid() {
			return wrong("is not in the model")
		}
		next, used := child(at, rest)
		if !next.IsValid() {
			return wrong("is not in the model, or is in a field that is not exported")
		}
		at, rest = next, rest[used:]
	}
	_, isModule := reflect.TypeAssert[Module](at)
	value := reflect.ValueOf(by)
	switch {
	case !isModule:
		return wrong("is no module")
	case !at.CanSet() || !value.Type().AssignableTo(at.Type()):
		return wrong(fmt.Sprintf("is in a field of type %v, which cannot hold %s", at.Type(), describe(by)))
	}
	at.Set(value)
	return nil
}

// child returns the part of a value with the first names of a path, and their number; the zero Value
// if there is none.
func child(v reflect.Value, names []string) (part reflect.Value, used int) {
	if v.CanInterface() {
		if s, ok := v.Interface().(sequence); ok {
			return at(reflect.ValueOf(s.parts()), names)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return reflect.Value{}, 0
		}
		return child(v.Elem(), names)
	case reflect.Slice, reflect.Array:
		return at(v, names)
	case reflect.Struct:
		return field(v, names)
	}
	return reflect.Value{}, 0
}

// at returns the element of a slice or an array whose index is the first name.
func at(list reflect.Value, names []string) (part reflect.Value, used int) {
	if i, err := strconv.Atoi(names[0]); err == nil && i >= 0 && i < list.Len() {
		return list.Index(i), 1
	}
	return reflect.Value{}, 0
}

// field returns the exported field of a struct with the first names.
func field(v reflect.Value, names []string) (part reflect.Value, used int) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name := fieldName(v.Type(), f.Name)
		tag, tagged := f.Tag.Lookup(nameTag)
		if tagged {
			name = tag
		}
		own := strings.Split(name, ".")
		switch {
		case f.Anonymous && !tagged, tagged && tag == "":
			if part, used := child(v.Field(i), names); part.IsValid() {
				return part, used
			}
		case len(own) <= len(names) && name == strings.Join(names[:len(own)], "."):
			return v.Field(i), len(own)
		}
	}
	return reflect.Value{}, 0
}

// ReplaceHead replaces the last [Dense] layer of a model, in the order of declaration, by another
// module, usually a Dense with the number of classes of another data set, and returns its name. The
// other parameters stay as they are. What the model was trained with is forgotten, so that accel.Fit
// accepts a data set with other classes. Its errors are those of [Replace].
func ReplaceHead(model any, head Module) (name string, err error) {
	for _, m := range NamedModules(model) {
		if _, ok := m.Module.(*DenseLayer); ok {
			name = m.Name
		}
	}
	if name == "" {
		return "", &tensor.StateError{Op: "ReplaceHead", Hint: "the model has no Dense layer"}
	}
	if err := Replace(model, name, head); err != nil {
		return name, err
	}
	for _, p := range State(model) {
		tensors.SetMetadata(p.Tensor, nil) // it names the classes of the old layer
	}
	return name, nil
}
