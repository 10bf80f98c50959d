package rt

import (
	"reflect"
	"unsafe"
)

// MethodCall is a method of a type of a cell as compiled code calls it. The method that runs may change from one call to the next.
type MethodCall interface {
	// Signature returns the type of the method in compiled code, without the receiver.
	Signature() reflect.Type
	// Target returns the method of a cell that a call with the data word of a receiver runs, and its receiver. It is nil if the call
	// needs Call.
	Target(word unsafe.Pointer) (code MethodCode, receiver unsafe.Pointer)
	// Call runs the method, whatever it is.
	Call(word unsafe.Pointer, arguments []reflect.Value) []reflect.Value
}

// EnterMethods sets what returns the function value that compiled code calls for a method, with the data word of the receiver as the first
// parameter; nil if package reflect has to make it.
func (r *Registry) EnterMethods(enter func(MethodCall) unsafe.Pointer) { r.enter = enter }

// entry returns a function of the type t for c; see named.Method.Word.
func (r *Registry) entry(c *compiledCall, t reflect.Type) reflect.Value {
	if r.enter != nil {
		if p := r.enter(c); p != nil {
			var f any
			*interfaceWords(&f) = [2]unsafe.Pointer{typeWord(t), p}
			return reflect.ValueOf(f)
		}
	}
	return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		defer RaiseAgain()
		return c.Call(in[0].UnsafePointer(), in[1:])
	})
}

// Signature implements MethodCall.
func (c *compiledCall) Signature() reflect.Type { return c.typ }

// Target implements MethodCall.
func (c *compiledCall) Target(word unsafe.Pointer) (MethodCode, unsafe.Pointer) {
	m := c.method()
	if m.Code == nil {
		return nil, nil
	}
	word = c.received(m, word)
	if m.Receiver != nil {
		word = m.Receiver(word)
	}
	return m.Code, word
}
