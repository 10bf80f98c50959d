package rt

import (
	"go/types"
	"reflect"
	"runtime"
)

// toReal converts a raw value back to a value of the compiled type real.
func (w *harness) toReal(raw reflect.Value, t types.Type, real reflect.Type) reflect.Value {
	if !w.Mentions(t) && !holdsAny(t) {
		return raw
	}
	v := reflect.New(real).Elem()
	switch u := t.Underlying().(type) {
	case *types.Basic:
		v.Set(raw.Convert(real))
	case *types.Interface:
		if raw.IsNil() {
			break
		}
		b, ok := w.unbox(raw.Interface())
		if !ok {
			v.Set(raw.Elem())
			break
		}
		v.Set(w.toReal(reflect.ValueOf(b.V), b.T.typ, w.realType(b.T.typ)))
	case *types.Pointer:
		if raw.IsNil() {
			break
		}
		key := [2]any{real, raw.UnsafePointer()}
		if known, ok := w.realPointers[key]; ok {
			if busy := [2]any{"busy", raw.UnsafePointer()}; !w.realPointers[busy].IsValid() {
				w.realPointers[busy] = known
				known.Elem().Set(w.toReal(raw.Elem(), u.Elem(), real.Elem()))
				delete(w.realPointers, busy)
			}
			return known
		}
		v.Set(reflect.New(real.Elem()))
		w.realPointers[key] = v
		w.rawPointers[[2]any{real, v.UnsafePointer()}] = raw
		v.Elem().Set(w.toReal(raw.Elem(), u.Elem(), real.Elem()))
	case *types.Slice:
		if raw.IsNil() {
			break
		}
		v.Set(reflect.MakeSlice(real, raw.Len(), raw.Len()))
		for i := range raw.Len() {
			v.Index(i).Set(w.toReal(raw.Index(i), u.Elem(), real.Elem()))
		}
	case *types.Array:
		for i := range raw.Len() {
			v.Index(i).Set(w.toReal(raw.Index(i), u.Elem(), real.Elem()))
		}
	case *types.Map:
		if raw.IsNil() {
			break
		}
		v.Set(reflect.MakeMap(real))
		for i := raw.MapRange(); i.Next(); {
			v.SetMapIndex(w.toReal(i.Key(), u.Key(), real.Key()), w.toReal(i.Value(), u.Elem(), real.Elem()))
		}
	case *types.Struct:
		for i := range u.NumFields() {
			open(v.Field(i)).Set(w.toReal(raw.Field(i), u.Field(i).Type(), real.Field(i).Type))
		}
	}
	return v
}

func (w *harness) realType(t types.Type) reflect.Type {
	if n, ok := t.(*types.Named); ok {
		return w.real[n]
	}
	switch u := t.(type) {
	case *types.Pointer:
		return reflect.PointerTo(w.realType(u.Elem()))
	case *types.Slice:
		return reflect.SliceOf(w.realType(u.Elem()))
	case *types.Map:
		return reflect.MapOf(w.realType(u.Key()), w.realType(u.Elem()))
	case *types.Basic:
		return basicTypes[u.Kind()]
	case *types.Interface:
		return anyType
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), w.realType(u.Elem()))
	case *types.Struct:
		var fields []reflect.StructField
		for i := range u.NumFields() {
			fields = append(fields, reflect.StructField{Name: u.Field(i).Name(), Type: w.realType(u.Field(i).Type()), Tag: reflect.StructTag(u.Tag(i))})
		}
		return reflect.StructOf(fields)
	}
	panic("no real type for " + t.String())
}

// registerMethods registers the methods of a compiled type as lowered code does. Each
// calls the compiled method.
func (w *harness) registerMethods(real reflect.Type) {
	t := w.checked(real)
	id := w.ID(t)
	for i := range real.NumMethod() {
		m := real.Method(i)
		if real.Kind() == reflect.Pointer {
			if _, byValue := real.Elem().MethodByName(m.Name); byValue {
				continue // lowered code registers a method with the receiver that it is declared with
			}
		}
		in, out := []reflect.Type{anyType}, []reflect.Type(nil)
		for i := 1; i < m.Type.NumIn(); i++ {
			in = append(in, w.rawType(w.checked(m.Type.In(i)), m.Type.In(i)))
		}
		for i := range m.Type.NumOut() {
			out = append(out, w.rawType(w.checked(m.Type.Out(i)), m.Type.Out(i)))
		}
		f := reflect.MakeFunc(reflect.FuncOf(in, out, false), func(args []reflect.Value) []reflect.Value {
			receiver := args[0].Elem()
			var real []reflect.Value
			w.locked(func() {
				real = append(real, w.toReal(receiver, t, m.Type.In(0)))
				for i, a := range args[1:] {
					real = append(real, w.toReal(a, w.checked(m.Type.In(i+1)), m.Type.In(i+1)))
				}
			})
			results := w.call(m.Func, real)
			w.locked(func() {
				for i, v := range results {
					results[i] = w.toRaw(v, w.checked(v.Type()))
				}
				for i, a := range args[1:] {
					w.copyBack(a, real[i+1])
				}
				if receiver.Kind() == reflect.Pointer && !receiver.IsNil() {
					receiver.Elem().Set(w.toRaw(real[0].Elem(), t.Underlying().(*types.Pointer).Elem()))
				}
			})
			return results
		})
		w.Register(id, m.Name, testCode{w.rawType(t, real), f}, nil)
	}
}

// call calls a compiled method, and converts its panic value.
func (w *harness) call(f reflect.Value, args []reflect.Value) []reflect.Value {
	defer func() {
		if cause := recover(); cause != nil {
			if _, ok := cause.(runtime.Error); !ok {
				cause = w.box(cause)
			}
			panic(cause)
		}
	}()
	if f.Type().IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// locked calls f while no other goroutine converts values.
func (w *harness) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}
