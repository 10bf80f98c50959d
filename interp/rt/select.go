package rt

import (
	"reflect"
	"slices"
)

// Choose is reflect.Select, but ends when its goroutine must stop.
func (r *routines) Choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	return r.choose(cases)
}

// ChooseOutside is Choose if one of the cases receives from a channel of an outside type.
func (r *routines) ChooseOutside(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	return r.choose(cases)
}

func (r *routines) choose(cases []reflect.SelectCase) (chosen int, received reflect.Value, open bool) {
	if slices.ContainsFunc(cases, func(c reflect.SelectCase) bool { return c.Dir == reflect.SelectDefault }) {
		return reflect.Select(cases)
	}
	return r.selectOrStop(cases)
}
