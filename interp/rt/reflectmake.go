package rt

import (
	"reflect"
	"unsafe"
)

// ReflectNew is reflect.New.
func (r *Registry) ReflectNew(t reflect.Type) ReflectValue {
	w := viewOfType(t)
	p := reflect.New(w.t)
	return r.reflected(p, w.pointer().d)
}

// ReflectNewAt is reflect.NewAt.
func (r *Registry) ReflectNewAt(t reflect.Type, p unsafe.Pointer) ReflectValue {
	w := viewOfType(t)
	return r.reflected(reflect.NewAt(w.t, p), w.pointer().d)
}

// ReflectZero is reflect.Zero.
func (r *Registry) ReflectZero(t reflect.Type) ReflectValue {
	w := viewOfType(t)
	return r.reflected(reflect.Zero(w.t), w.d)
}

// ReflectMakeSlice is reflect.MakeSlice.
func (r *Registry) ReflectMakeSlice(t reflect.Type, length, capacity int) ReflectValue {
	defer keepText()
	w := viewOfType(t)
	return r.reflected(reflect.MakeSlice(w.t, length, capacity), w.d)
}

// ReflectSliceAt is reflect.SliceAt.
func (r *Registry) ReflectSliceAt(t reflect.Type, p unsafe.Pointer, n int) ReflectValue {
	return r.reflected(reflect.SliceAt(viewOfType(t).t, p, n), viewOfType(r.ReflectSliceOf(t)).d)
}

// ReflectMakeMap is reflect.MakeMap.
func (r *Registry) ReflectMakeMap(t reflect.Type) ReflectValue { return r.ReflectMakeMapWithSize(t, 0) }

// ReflectMakeMapWithSize is reflect.MakeMapWithSize.
func (r *Registry) ReflectMakeMapWithSize(t reflect.Type, n int) ReflectValue {
	w := viewOfType(t)
	return r.reflected(reflect.MakeMapWithSize(w.t, n), w.d)
}

// ReflectMakeChan is reflect.MakeChan.
func (r *Registry) ReflectMakeChan(t reflect.Type, buffer int) ReflectValue {
	defer keepText()
	w := viewOfType(t)
	return r.reflected(reflect.MakeChan(w.t, buffer), w.d)
}

// ReflectMakeFunc is reflect.MakeFunc.
func (r *Registry) ReflectMakeFunc(t reflect.Type, f func([]ReflectValue) []ReflectValue) ReflectValue {
	w := viewOfType(t)
	if w.kind() != reflect.Func {
		panic("reflect: call of MakeFunc with non-Func type")
	}
	s := r.signatureOf(w)
	return r.reflected(reflect.MakeFunc(w.t, func(raw []reflect.Value) []reflect.Value {
		args := make([]ReflectValue, len(raw))
		for i, x := range raw {
			args[i] = r.reflected(x, s.in(i).d)
		}
		out := f(args)
		if len(out) != w.t.NumOut() {
			panic("reflect: wrong return count from function created by MakeFunc")
		}
		results := make([]reflect.Value, len(out))
		for i, x := range out {
			if !x.IsValid() {
				panic("reflect: function created by MakeFunc using closure returned zero Value")
			}
			results[i] = r.assigned(x, s.out(i), "reflect.MakeFunc")
		}
		return results
	}), w.d)
}

// ReflectSwapper is reflect.Swapper.
func (r *representations) ReflectSwapper(slice any) func(i, j int) {
	return reflect.Swapper(r.Value(slice))
}

// ReflectSelectCase replaces reflect.SelectCase.
type ReflectSelectCase struct {
	Dir  reflect.SelectDir
	Chan ReflectValue
	Send ReflectValue
}

func (ReflectSelectCase) compiledName() string { return "reflect.SelectCase" }

// ReflectSelect is reflect.Select.
func (r *Registry) ReflectSelect(cases []ReflectSelectCase) (chosen int, received ReflectValue, ok bool) {
	raw := make([]reflect.SelectCase, len(cases))
	for i, c := range cases {
		raw[i] = reflect.SelectCase{Dir: c.Dir, Chan: c.Chan.Value, Send: c.Send.Value}
		if c.Dir == reflect.SelectSend && c.Chan.IsValid() && c.Send.IsValid() {
			raw[i].Send = r.assigned(c.Send, c.Chan.view().elem(), "reflect.Select")
		}
	}
	var x reflect.Value
	chosen, x, ok = reflect.Select(raw)
	if x.IsValid() {
		received = r.reflected(x, cases[chosen].Chan.view().elem().d)
	}
	return chosen, received, ok
}
