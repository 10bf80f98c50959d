package rt

import (
	"fmt"
	"go/types"
	"iter"
	"reflect"

	"github.com/quernlab/quern/interp/origin"
)

// ReflectMethod replaces reflect.Method.
type ReflectMethod struct {
	Name    string
	PkgPath string
	Type    reflect.Type
	Func    ReflectValue
	Index   int
}

func (ReflectMethod) compiledName() string { return "reflect.Method" }

// IsExported does what the method of reflect.Method does.
func (m ReflectMethod) IsExported() bool { return m.PkgPath == "" }

// signature is a function type: its view and, unless it is compiled, its signature.
type signature struct {
	view
	r *Registry
	s *types.Signature // nil for a compiled type
}

func (r *Registry) signatureOf(w view) signature {
	s := signature{view: w, r: r}
	if w.d != nil {
		s.s = w.d.typ.Underlying().(*types.Signature)
	}
	return s
}

func (s signature) in(i int) view {
	if s.s == nil {
		return view{nil, s.t.In(i)}
	}
	return view{s.r.child(s.s.Params().At(i).Type()), s.t.In(i)}
}

func (s signature) out(i int) view {
	if s.s == nil {
		return view{nil, s.t.Out(i)}
	}
	return view{s.r.child(s.s.Results().At(i).Type()), s.t.Out(i)}
}

// Call does what the method of reflect.Value does.
func (v ReflectValue) Call(in []ReflectValue) []ReflectValue {
	return v.call("Call", in, v.Kind() == reflect.Func && v.Value.Type().IsVariadic(), v.Value.Call)
}

// CallSlice does what the method of reflect.Value does.
func (v ReflectValue) CallSlice(in []ReflectValue) []ReflectValue {
	return v.call("CallSlice", in, false, v.Value.CallSlice)
}

// call calls v by call, a method of the raw value with the name op. If spread, in has
// the arguments of a variadic parameter as single values.
func (v ReflectValue) call(op string, in []ReflectValue, spread bool, call func([]reflect.Value) []reflect.Value) []ReflectValue {
	if v.Kind() != reflect.Func || v.Value.IsNil() {
		defer keepText()
		call(nil) // panics
	}
	s := v.r.signatureOf(v.view())
	n := s.t.NumIn()
	if spread {
		n--
	}
	switch {
	case op == "CallSlice" && !s.t.IsVariadic():
		panic("reflect: CallSlice of non-variadic function")
	case len(in) < n:
		panic("reflect: " + op + " with too few input arguments")
	case len(in) > n && !spread:
		panic("reflect: " + op + " with too many input arguments")
	}
	for _, x := range in {
		if !x.IsValid() {
			panic(PanicValue("reflect: " + op + " using zero Value argument"))
		}
	}
	raw := make([]reflect.Value, len(in))
	for i, x := range in {
		w, format := s.in(min(i, n)), "reflect: "+op+" using %s as type %s"
		if i >= n {
			w, format = w.elem(), "reflect: cannot use %s as type %s in "+op
		}
		if x.CanInterface() && !v.r.TypeAssignableTo(x.Type(), v.r.reflectType(w)) {
			panic(fmt.Sprintf(format, x.Type(), w))
		}
		raw[i] = v.r.assigned(x, w, "reflect: Call")
	}
	var out []ReflectValue
	for i, x := range call(raw) {
		out = append(out, v.r.reflected(x, s.out(i).d))
	}
	return out
}

// NumMethod does what the method of reflect.Value does.
func (v ReflectValue) NumMethod() int {
	if v.d == nil {
		return v.Value.NumMethod()
	}
	return v.Type().NumMethod()
}

// Method does what the method of reflect.Value does.
func (v ReflectValue) Method(i int) ReflectValue {
	defer keepText()
	if v.d == nil {
		return v.r.reflected(v.r.guarded(v.Value, v.Value.Method(i)), nil)
	}
	methods := typeWrapper{v.Value.Type(), v.d}.exported()
	if uint(i) >= uint(len(methods)) {
		panic("reflect: Method index out of range")
	}
	return v.method(methods[i])
}

// MethodByName does what the method of reflect.Value does.
func (v ReflectValue) MethodByName(name string) ReflectValue {
	if v.d == nil {
		return v.r.reflected(v.r.guarded(v.Value, v.Value.MethodByName(name)), nil)
	}
	m := typeWrapper{v.Value.Type(), v.d}.find(name)
	if m == nil {
		return ReflectValue{}
	}
	return v.method(m)
}

// Methods does what the method of reflect.Value does.
func (v ReflectValue) Methods() iter.Seq2[ReflectMethod, ReflectValue] {
	return func(yield func(ReflectMethod, ReflectValue) bool) {
		for i := range v.NumMethod() {
			if !yield(v.r.TypeMethod(v.Type(), i), v.Method(i)) {
				return
			}
		}
	}
}

// method returns the method m of v as a function.
func (v ReflectValue) method(m *types.Func) ReflectValue {
	raw := exported(v.Value)
	if raw.Kind() == reflect.Interface && raw.IsNil() {
		panic("reflect: Method on nil interface value")
	}
	var x any
	if raw.Kind() == reflect.Interface {
		x = raw.Interface()
	} else {
		x = v.d.box(raw.Interface())
	}
	function, receiver, boxed := v.r.Method(x, m.Name())
	f, skip := reflect.ValueOf(function), 0
	if boxed {
		skip = 1
	}
	s := withReceiver(m.Type().(*types.Signature), nil)
	made := reflect.MakeFunc(methodType(f.Type(), skip, nil, s.Variadic()), func(args []reflect.Value) []reflect.Value {
		if boxed {
			args = append([]reflect.Value{reflect.ValueOf(&receiver).Elem()}, args...)
		}
		return f.Call(args)
	})
	if !v.CanInterface() {
		made = unexported(made, false)
	}
	return v.r.reflected(made, v.r.child(s))
}

// methodType returns the type of f without its first skip parameters. If first is not
// nil, it becomes the first parameter. f is not variadic, the result is if variadic.
func methodType(f reflect.Type, skip int, first reflect.Type, variadic bool) reflect.Type {
	var in, out []reflect.Type
	if first != nil {
		in = append(in, first)
	}
	for i := skip; i < f.NumIn(); i++ {
		in = append(in, f.In(i))
	}
	for t := range f.Outs() {
		out = append(out, t)
	}
	return reflect.FuncOf(in, out, variadic)
}

// withReceiver returns the signature of a method as a function type. If receiver is not
// nil, it becomes the first parameter.
func withReceiver(s *types.Signature, receiver types.Type) *types.Signature {
	params := s.Params()
	if receiver != nil {
		all := []*types.Var{types.NewParam(0, nil, "", receiver)}
		for v := range params.Variables() {
			all = append(all, v)
		}
		params = types.NewTuple(all...)
	}
	return types.NewSignatureType(nil, nil, nil, params, s.Results(), s.Variadic())
}

// TypeMethod is t.Method(i). The method of a compiled reflect.Type has a raw function.
func (r *Registry) TypeMethod(t reflect.Type, i int) ReflectMethod {
	w, ok := t.(typeWrapper)
	if !ok {
		return r.reflectMethod(t.Method(i))
	}
	methods := w.exported()
	if uint(i) >= uint(len(methods)) {
		panic("reflect: Method index out of range")
	}
	m := methods[i]
	result := ReflectMethod{Name: m.Name(), Index: i}
	if !m.Exported() {
		result.PkgPath = origin.ImportPath(m.Pkg())
	}
	if t.Kind() == reflect.Interface {
		s := withReceiver(m.Type().(*types.Signature), nil)
		raw := reflect.TypeFor[func()]()
		if d := r.child(s); d != nil {
			result.Type = r.reflectType(view{d, raw})
		} else if made, _ := r.declaredType(r.Describe(s)); made != nil {
			result.Type = compiledType(made)
		} else {
			result.Type = raw
		}
		return result
	}
	registered, ok := w.d.method(m.Name())
	if !ok {
		registered = Box{w.d, reflect.Zero(w.Type).Interface()}.method(m.Name())
	}
	s := withReceiver(m.Type().(*types.Signature), w.d.typ)
	raw := methodType(registered.value.Type(), 1, w.Type, s.Variadic())
	result.Func = r.reflected(reflect.MakeFunc(raw, func(args []reflect.Value) []reflect.Value {
		receiver := args[0].Interface()
		args[0] = reflect.ValueOf(&receiver).Elem()
		return registered.value.Call(args)
	}), r.Describe(s))
	result.Type = result.Func.Type()
	return result
}

// reflectMethod converts a method of a compiled type.
func (r *Registry) reflectMethod(m reflect.Method) ReflectMethod {
	return ReflectMethod{m.Name, m.PkgPath, compiledMethod(m).Type, r.reflected(m.Func, nil), m.Index}
}

// TypeMethodByName is t.MethodByName(name).
func (r *Registry) TypeMethodByName(t reflect.Type, name string) (ReflectMethod, bool) {
	w, ok := t.(typeWrapper)
	if !ok {
		m, ok := t.MethodByName(name)
		return r.reflectMethod(m), ok
	}
	for i, m := range w.exported() {
		if m.Name() == name {
			return r.TypeMethod(t, i), true
		}
	}
	return ReflectMethod{}, false
}

// TypeMethods is t.Methods().
func (r *Registry) TypeMethods(t reflect.Type) iter.Seq[ReflectMethod] {
	return func(yield func(ReflectMethod) bool) {
		for i := range t.NumMethod() {
			if !yield(r.TypeMethod(t, i)) {
				return
			}
		}
	}
}
