package rt

import "reflect"

// The functions below call a method of the method table. A registered function
// normally has exactly the expected type and is called directly. It has another one if
// it was made from a named type, and is then called through reflection. The suffix
// of a name is the number of parameters, or parameters x results.

// call0 calls the method name, which takes nothing and returns an R.
func call0[R any](b Box, name string) R {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any) R); ok {
		return f(b.V)
	}
	return result[R](m.call(b), 0)
}

// call0x2 calls the method name, which takes nothing and returns an R and an S.
func call0x2[R, S any](b Box, name string) (R, S) {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any) (R, S)); ok {
		return f(b.V)
	}
	out := m.call(b)
	return result[R](out, 0), result[S](out, 1)
}

// call1 calls the method name, which takes an A and returns an R.
func call1[R, A any](b Box, name string, a A) R {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any, A) R); ok {
		return f(b.V, a)
	}
	return result[R](m.call(b, argument(&a)), 0)
}

// call1x2 calls the method name, which takes an A and returns an R and an S.
func call1x2[R, S, A any](b Box, name string, a A) (R, S) {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any, A) (R, S)); ok {
		return f(b.V, a)
	}
	out := m.call(b, argument(&a))
	return result[R](out, 0), result[S](out, 1)
}

// call2 calls the method name, which takes an A and a C and returns an R.
func call2[R, A, C any](b Box, name string, a A, c C) R {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any, A, C) R); ok {
		return f(b.V, a, c)
	}
	return result[R](m.call(b, argument(&a), argument(&c)), 0)
}

// callVoid1 calls the method name, which takes an A.
func callVoid1[A any](b Box, name string, a A) {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any, A)); ok {
		f(b.V, a)
		return
	}
	m.call(b, argument(&a))
}

// callVoid2 calls the method name, which takes an A and a C.
func callVoid2[A, C any](b Box, name string, a A, c C) {
	m := b.method(name)
	defer raiseAgain()
	if f, ok := m.function.(func(any, A, C)); ok {
		f(b.V, a, c)
		return
	}
	m.call(b, argument(&a), argument(&c))
}

// raiseAgain is deferred by methods that compiled packages call: one that recovers sees the panic of compiled Go, also if the
// cell runs the method.
func raiseAgain() {
	r := recover()
	if r == nil {
		return
	}
	r = raised(r)
	if _, ok := r.(uncatchable); ok && isCalling(printers, 1024) {
		r = &uncaught{r}
	}
	panic(r)
}

// call calls the method through reflection.
func (m *method) call(b Box, args ...reflect.Value) []reflect.Value {
	return m.value.Call(append([]reflect.Value{argument(&b.V)}, args...))
}

// argument returns *p as a reflect.Value that keeps the static type A, even if A is
// an interface type and *p is nil.
func argument[A any](p *A) reflect.Value { return reflect.ValueOf(p).Elem() }

// result returns results[i] as an R; a nil interface gives the zero R.
func result[R any](results []reflect.Value, i int) R {
	r, _ := results[i].Interface().(R)
	return r
}
