package rt

import (
	"go/types"
	"iter"
	"reflect"
)

// ReflectMapIter replaces reflect.MapIter.
type ReflectMapIter struct {
	reflect.MapIter
	m ReflectValue
}

func (ReflectMapIter) compiledName() string { return "reflect.MapIter" }

// MapRange does what the method of reflect.Value does.
func (v ReflectValue) MapRange() *ReflectMapIter { return &ReflectMapIter{*v.Value.MapRange(), v} }

// Key does what the method of reflect.MapIter does.
func (i *ReflectMapIter) Key() ReflectValue {
	return i.m.r.reflected(i.MapIter.Key(), i.m.view().key().d)
}

// Value does what the method of reflect.MapIter does.
func (i *ReflectMapIter) Value() ReflectValue {
	return i.m.r.reflected(i.MapIter.Value(), i.m.view().elem().d)
}

// Reset does what the method of reflect.MapIter does.
func (i *ReflectMapIter) Reset(v ReflectValue) {
	i.MapIter.Reset(v.Value)
	i.m = v
}

// MapKeys does what the method of reflect.Value does.
func (v ReflectValue) MapKeys() []ReflectValue {
	raw := v.Value.MapKeys()
	keys := make([]ReflectValue, len(raw))
	for i, k := range raw {
		keys[i] = v.r.reflected(k, v.view().key().d)
	}
	return keys
}

// MapIndex does what the method of reflect.Value does.
func (v ReflectValue) MapIndex(key ReflectValue) ReflectValue {
	if v.Kind() != reflect.Map {
		v.Value.MapIndex(key.Value) // panics
	}
	k := v.r.assigned(key, v.view().key(), "reflect.Value.MapIndex")
	if k.IsValid() && k.CanInterface() && v.r.holdsInterface(k.Type()) {
		v.r.Hashable(k.Interface())
	}
	return v.r.reflected(v.Value.MapIndex(k), v.view().elem().d)
}

// Recv does what the method of reflect.Value does.
func (v ReflectValue) Recv() (ReflectValue, bool) {
	x, ok := v.Value.Recv()
	return v.r.reflected(x, v.view().elem().d), ok
}

// TryRecv does what the method of reflect.Value does.
func (v ReflectValue) TryRecv() (ReflectValue, bool) {
	x, ok := v.Value.TryRecv()
	return v.r.reflected(x, v.view().elem().d), ok
}

// Seq does what the method of reflect.Value does.
func (v ReflectValue) Seq() iter.Seq[ReflectValue] {
	first, _ := v.yielded(1)
	seq := v.Value.Seq()
	return func(yield func(ReflectValue) bool) {
		seq(func(x reflect.Value) bool { return yield(v.r.reflected(x, first)) })
	}
}

// Seq2 does what the method of reflect.Value does.
func (v ReflectValue) Seq2() iter.Seq2[ReflectValue, ReflectValue] {
	first, second := v.yielded(2)
	seq := v.Value.Seq2()
	return func(yield func(ReflectValue, ReflectValue) bool) {
		seq(func(x, y reflect.Value) bool { return yield(v.r.reflected(x, first), v.r.reflected(y, second)) })
	}
}

// yielded returns the types of the n values that a range over v yields, nil for compiled
// types.
func (v ReflectValue) yielded(n int) (first, second *Type) {
	if v.d == nil {
		return nil, nil
	}
	switch v.Kind() {
	case reflect.Map:
		return v.view().key().d, v.view().elem().d
	case reflect.Chan:
		return v.view().elem().d, nil
	case reflect.Slice, reflect.Array:
		return nil, v.view().elem().d
	case reflect.Pointer:
		return nil, v.view().elem().elem().d
	case reflect.String:
		return nil, nil
	case reflect.Func:
		yield := v.d.typ.Underlying().(*types.Signature).Params().At(0).Type().Underlying().(*types.Signature).Params()
		first = v.r.child(yield.At(0).Type())
		if n > 1 {
			second = v.r.child(yield.At(1).Type())
		}
		return first, second
	}
	return v.d, nil // an integer
}
