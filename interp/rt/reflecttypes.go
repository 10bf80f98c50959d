package rt

import (
	"fmt"
	"go/types"
	"reflect"
)

// viewOfType returns the view of a reflect.Type that a cell uses.
func viewOfType(t reflect.Type) view {
	switch t := t.(type) {
	case typeWrapper:
		return t.view()
	case replacedType:
		return view{nil, t.Type}
	}
	return view{nil, t}
}

// composed returns made, the type that package reflect created from parts. If a part is
// declared in a cell, it wraps it with the type that declared creates by package types.
func (r *Registry) composed(made reflect.Type, declared func(part func(reflect.Type) types.Type) types.Type, parts ...reflect.Type) reflect.Type {
	compiled := true
	for _, t := range parts {
		compiled = compiled && viewOfType(t).d == nil
	}
	if compiled {
		return compiledType(made)
	}
	return r.reflectType(view{r.child(declared(r.declaration)), made})
}

// declaration returns the types.Type of t.
func (r *representations) declaration(t reflect.Type) types.Type {
	if d := viewOfType(t).d; d != nil {
		return d.typ
	}
	if t.PkgPath() == "" && t.Name() != "" {
		if o, ok := types.Universe.Lookup(t.Name()).(*types.TypeName); ok {
			return o.Type()
		}
	}
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Pointer:
			return types.NewPointer(r.declaration(t.Elem()))
		case reflect.Slice:
			return types.NewSlice(r.declaration(t.Elem()))
		case reflect.Array:
			return types.NewArray(r.declaration(t.Elem()), int64(t.Len()))
		case reflect.Map:
			return types.NewMap(r.declaration(t.Key()), r.declaration(t.Elem()))
		case reflect.Interface:
			if t.NumMethod() == 0 {
				return types.NewInterfaceType(nil, nil)
			}
		}
	}
	panic(fmt.Errorf("reflect: cannot create a type from %s and a type of a cell; write the type in Go and use reflect.TypeFor", t))
}

// ReflectPointerTo is reflect.PointerTo.
func (r *representations) ReflectPointerTo(t reflect.Type) reflect.Type {
	return r.reflectType(viewOfType(t).pointer())
}

// ReflectSliceOf is reflect.SliceOf.
func (r *Registry) ReflectSliceOf(t reflect.Type) reflect.Type {
	return r.composed(reflect.SliceOf(viewOfType(t).t), func(part func(reflect.Type) types.Type) types.Type {
		return types.NewSlice(part(t))
	}, t)
}

// ReflectArrayOf is reflect.ArrayOf.
func (r *Registry) ReflectArrayOf(n int, t reflect.Type) reflect.Type {
	return r.composed(reflect.ArrayOf(n, viewOfType(t).t), func(part func(reflect.Type) types.Type) types.Type {
		return types.NewArray(part(t), int64(n))
	}, t)
}

// ReflectMapOf is reflect.MapOf.
func (r *Registry) ReflectMapOf(key, elem reflect.Type) reflect.Type {
	return r.composed(reflect.MapOf(viewOfType(key).t, viewOfType(elem).t), func(part func(reflect.Type) types.Type) types.Type {
		return types.NewMap(part(key), part(elem))
	}, key, elem)
}

// ReflectChanOf is reflect.ChanOf.
func (r *Registry) ReflectChanOf(dir reflect.ChanDir, t reflect.Type) reflect.Type {
	directions := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.SendDir: types.SendOnly, reflect.RecvDir: types.RecvOnly}
	return r.composed(reflect.ChanOf(dir, viewOfType(t).t), func(part func(reflect.Type) types.Type) types.Type {
		return types.NewChan(directions[dir], part(t))
	}, t)
}

// ReflectFuncOf is reflect.FuncOf.
func (r *Registry) ReflectFuncOf(in, out []reflect.Type, variadic bool) reflect.Type {
	raw := func(list []reflect.Type) []reflect.Type {
		made := make([]reflect.Type, len(list))
		for i, t := range list {
			made[i] = viewOfType(t).t
		}
		return made
	}
	tuple := func(list []reflect.Type, part func(reflect.Type) types.Type) *types.Tuple {
		vars := make([]*types.Var, len(list))
		for i, t := range list {
			vars[i] = types.NewParam(0, nil, "", part(t))
		}
		return types.NewTuple(vars...)
	}
	return r.composed(reflect.FuncOf(raw(in), raw(out), variadic), func(part func(reflect.Type) types.Type) types.Type {
		return types.NewSignatureType(nil, nil, nil, tuple(in, part), tuple(out, part), variadic)
	}, append(append([]reflect.Type{}, in...), out...)...)
}

// ReflectStructOf is reflect.StructOf.
func (r *Registry) ReflectStructOf(fields []reflect.StructField) reflect.Type {
	raw, parts := make([]reflect.StructField, len(fields)), make([]reflect.Type, len(fields))
	for i, f := range fields {
		parts[i] = f.Type
		f.Type = viewOfType(f.Type).t
		raw[i] = f
	}
	return r.composed(reflect.StructOf(raw), func(part func(reflect.Type) types.Type) types.Type {
		vars, tags := make([]*types.Var, len(fields)), make([]string, len(fields))
		for i, f := range fields {
			vars[i], tags[i] = types.NewField(0, nil, f.Name, part(f.Type), f.Anonymous), string(f.Tag)
		}
		return types.NewStruct(vars, tags)
	}, parts...)
}

// TypeConvertibleTo is t.ConvertibleTo(u).
func (r *Registry) TypeConvertibleTo(t, u reflect.Type) bool {
	v, w := viewOfType(t), viewOfType(u)
	switch {
	case v.d == nil && w.d == nil:
		return t.ConvertibleTo(u)
	case w.kind() == reflect.Interface:
		return r.TypeImplements(t, u)
	case v.d != nil && w.d != nil:
		return types.ConvertibleTo(v.d.typ, w.d.typ)
	}
	return v.t.ConvertibleTo(w.t)
}

// reflection returns the replacements for symbols of package reflect.
func (r *Registry) reflection() map[string]reflect.Value {
	table := map[string]any{
		"Value":      (*ReflectValue)(nil),
		"Method":     (*ReflectMethod)(nil),
		"MapIter":    (*ReflectMapIter)(nil),
		"SelectCase": (*ReflectSelectCase)(nil),

		"Append":          ReflectAppend,
		"AppendSlice":     ReflectAppendSlice,
		"ArrayOf":         r.ReflectArrayOf,
		"ChanOf":          r.ReflectChanOf,
		"Copy":            ReflectCopy,
		"DeepEqual":       r.DeepEqual,
		"FuncOf":          r.ReflectFuncOf,
		"Indirect":        ReflectIndirect,
		"MakeChan":        r.ReflectMakeChan,
		"MakeFunc":        r.ReflectMakeFunc,
		"MakeMap":         r.ReflectMakeMap,
		"MakeMapWithSize": r.ReflectMakeMapWithSize,
		"MakeSlice":       r.ReflectMakeSlice,
		"MapOf":           r.ReflectMapOf,
		"New":             r.ReflectNew,
		"NewAt":           r.ReflectNewAt,
		"PointerTo":       r.ReflectPointerTo,
		"PtrTo":           r.ReflectPointerTo,
		"Select":          r.ReflectSelect,
		"SliceAt":         r.ReflectSliceAt,
		"SliceOf":         r.ReflectSliceOf,
		"StructOf":        r.ReflectStructOf,
		"Swapper":         r.ReflectSwapper,
		"TypeOf":          r.TypeOf,
		"ValueOf":         r.ReflectValueOf,
		"Zero":            r.ReflectZero,
	}
	symbols := make(map[string]reflect.Value, len(table))
	for name, x := range table {
		symbols[name] = reflect.ValueOf(x)
	}
	return symbols
}
