package tensor

import (
	"reflect"
	"strings"
)

// method is a method of *Tensor with tensors as parameters and one tensor as result, so that tests
// can call it without a row.
type method struct {
	arity int // with the receiver
	call  func(in []*Tensor) *Tensor
}

// methods are these methods by name.
var methods = func() map[string]method {
	all, of := map[string]method{}, reflect.TypeFor[*Tensor]()
	for i := range of.NumMethod() {
		m := of.Method(i)
		f := m.Func
		fits := !f.Type().IsVariadic() && f.Type().NumOut() == 1 && f.Type().Out(0) == of
		for k := range f.Type().NumIn() {
			fits = fits && f.Type().In(k) == of
		}
		if !fits {
			continue
		}
		all[m.Name] = method{f.Type().NumIn(), func(in []*Tensor) *Tensor {
			args := make([]reflect.Value, len(in))
			for k, x := range in {
				args[k] = reflect.ValueOf(x)
			}
			return f.Call(args)[0].Interface().(*Tensor)
		}}
	}
	return all
}()

// methodNamed returns the method with the name of PyTorch's function.
func methodNamed(torch string) func(in []*Tensor) *Tensor {
	for name, m := range methods {
		if strings.EqualFold(name, torch) {
			return m.call
		}
	}
	return nil
}
