package rt

import (
	"go/types"
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
)

// MethodCode is a method that a cell declares, as package vm runs it.
type MethodCode interface {
	// Type returns the signature in lowered code, after a parameter of type unsafe.Pointer for the receiver. It is not variadic.
	Type() reflect.Type
	// Call runs the method. The receiver is the data word of an interface value that holds it.
	Call(receiver unsafe.Pointer, arguments []reflect.Value) []reflect.Value
	// Receiver returns the receiver for a call with the value of a variable, which may change during the call.
	Receiver(variable unsafe.Pointer) unsafe.Pointer
}

// Register adds a method to the method table of the type id under name. The signature is nil if it may not have changed.
func (r *Registry) Register(id int, name string, code MethodCode, signature *types.Signature) {
	r.Type(id).register(registeredMethod{name, code, signature})
	r.registered.Add(1)
}

// Derive makes the method of pointers to the type id call that of the type.
func (r *Registry) Derive(id int, name string) {
	t := r.Type(id)
	r.mu.Lock()
	pointer := r.described(types.NewPointer(t.typ))
	r.mu.Unlock()
	if pointer != nil {
		if _, byPointer := pointer.setMethod(registeredMethod{name: name}); byPointer {
			pointer.revise()
		}
		r.registered.Add(1)
	}
}

// Bound returns the method value x.name, or what code of cells calls instead. It panics as Go does if x is nil.
func (r *Registry) Bound(x any, name string) reflect.Value {
	if x == nil {
		panic(nilDereference)
	}
	v := reflect.ValueOf(x)
	key := methodKey{v.Type(), name}
	known, ok := r.bound.Load(key)
	if !ok {
		m, found := v.Type().MethodByName(name)
		if !found {
			panic(missingMethodError{v.Type().String(), name})
		}
		known = boundMethod{m.Index, r.replacement(x, name)}
		r.bound.Store(key, known)
	}
	m := known.(boundMethod)
	if m.replaced.IsValid() {
		return bind(m.replaced, v)
	}
	return r.guarded(v, v.Method(m.index))
}

// methodKey identifies a method of a compiled type.
type methodKey struct {
	typ  reflect.Type
	name string
}

// boundMethod is a method of a compiled type: its index, and what code of cells calls instead; the zero Value if that is nothing.
type boundMethod struct {
	index    int
	replaced reflect.Value
}

// replacement returns what code of cells calls instead of the method of a compiled x, or the zero Value.
func (r *Registry) replacement(x any, name string) reflect.Value {
	t, receiver := reflect.TypeOf(x), "("
	if _, ok := x.(reflect.Type); ok {
		t = reflect.TypeFor[reflect.Type]()
	} else if t.Kind() == reflect.Pointer {
		t, receiver = t.Elem(), "(*"
	}
	return r.config.Packages[Methods][receiver+t.PkgPath()+"."+t.Name()+")."+name]
}

// bind returns the function f with a first argument.
func bind(f, first reflect.Value) reflect.Value {
	t := f.Type()
	bound := reflect.FuncOf(slices.Collect(t.Ins())[1:], slices.Collect(t.Outs()), t.IsVariadic())
	return reflect.MakeFunc(bound, func(in []reflect.Value) []reflect.Value { return call(f, slices.Insert(in, 0, first)) })
}

// guarded returns what cells call instead of the method value m of x; see Config.Method.
func (r *Registry) guarded(x, m reflect.Value) reflect.Value {
	if r == nil || r.config.Method == nil || !m.IsValid() {
		return m
	}
	return r.config.Method(x.Type(), m, 0)
}

// MethodFunc returns what cells call instead of a method of a compiled type, with the receiver as the first parameter.
func (r *Registry) MethodFunc(receiver reflect.Type, m reflect.Method) reflect.Value {
	if r == nil || r.config.Method == nil {
		return m.Func
	}
	return r.config.Method(receiver, m.Func, 1)
}

// MissingMethod returns the error of a call of a method that x has no more, or with another signature.
func MissingMethod(x any, name string) error {
	return missingMethodError{reflect.TypeOf(x).String(), name}
}

// missingMethodError is the panic of a call to a method that the dynamic type of an interface value has no more: a later cell has declared a method
// with a pointer receiver that hides it, for example.
type missingMethodError struct{ typ, method string }

func (m missingMethodError) Error() string {
	return m.typ + " has no method " + m.method + " any more: a later cell has changed its methods, or those of a type that it embeds"
}

// CompileMethods sets the function that compiles and registers a method of a package when it is called for the first time.
func (r *Registry) CompileMethods(compile func(m *types.Func) error) { r.compiler = compile }

// Methods is the key, among the packages of a session, of the table of what code of cells calls instead of methods of compiled
// packages. The keys of that table are full names as in go/types, such as "(*sync.Mutex).Lock", and the first parameter of each function
// is the receiver. A session replaces more methods than Registry.Methods.
const Methods = "quern/methods"

// Methods returns such a table: waits that an interrupt ends, allocations that check the memory, and methods of package reflect.
func (r *Registry) Methods() map[string]reflect.Value {
	table := map[string]any{
		"(*sync.Mutex).Lock":     r.Lock,
		"(*sync.RWMutex).Lock":   r.LockRW,
		"(*sync.RWMutex).RLock":  r.RLock,
		"(*sync.WaitGroup).Wait": r.WaitGroupWait,

		"(*strings.Builder).Grow": growBuilder,
		"(*bytes.Buffer).Grow":    growBuffer,

		"(reflect.Value).Method":       r.ValueMethod,
		"(reflect.Value).MethodByName": r.ValueMethodByName,
		"(reflect.Value).Methods":      r.ValueMethods,
		"(reflect.Value).Pointer":      r.ValuePointer,
	}
	methods := make(map[string]reflect.Value, len(table))
	for name, f := range table {
		methods[name] = reflect.ValueOf(f)
	}
	return methods
}

// declaredType is a type that has been made for a type of a cell.
type declaredType struct {
	made     *named.Type
	calls    []*compiledCall // the methods with code
	t        *Type
	names    []*types.Selection // the methods of a pointer to it; nil when it is complete
	declared int                // declaredMethods of t when it was made
}

// compiledSignature is a method of a type of a cell as compiled packages see it.
type compiledSignature struct {
	name   string
	path   string // the import path of the package of a method that is not exported
	ofCell bool   // it is not exported, and that package is a cell or imported from source
	typ    reflect.Type
	of     *types.Signature
	in     reflect.Type // the compiled interface that declares the method, or nil
}

// compiledMethods returns the methods of one type with their types, without those whose types cannot be made. The caller holds
// r.declared.mu.
func (r *Registry) compiledMethods(selections []*types.Selection) (list []compiledSignature) {
	if len(selections) == 0 {
		return nil
	}
	embedded := embeddedMethods(selections[0].Recv())
	for _, selection := range selections {
		m := selection.Obj().(*types.Func)
		s, ok := r.compiledMethod(m, false)
		if s.in == nil {
			if typ := r.overridden(m, embedded); typ != nil {
				s.typ, ok = typ, true
			}
		}
		if ok {
			list = append(list, s)
		}
	}
	return list
}

// embeddedMethods returns the method sets of the embedded fields of the struct that pointer points to.
func embeddedMethods(pointer types.Type) (sets []*types.MethodSet) {
	p, ok := pointer.(*types.Pointer)
	if !ok {
		return nil
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range s.Fields() {
		if f.Embedded() {
			sets = append(sets, types.NewMethodSet(f.Type()))
		}
	}
	return sets
}

// overridden returns the type of the method in a compiled interface that an embedded field has, or nil. It may mention instances of
// generic types as the compiler makes them, such as iter.Seq[reflect.Method], and other types would not implement the interface.
func (r *Registry) overridden(m *types.Func, embedded []*types.MethodSet) reflect.Type {
	for _, set := range embedded {
		promoted := set.Lookup(m.Pkg(), m.Name())
		if promoted == nil || !types.Identical(promoted.Type(), m.Type()) {
			continue
		}
		if in := r.compiledInterface(promoted.Obj().(*types.Func)); in != nil {
			method, _ := in.MethodByName(m.Name())
			return method.Type
		}
	}
	return nil
}

// compiledMethod returns a method with its type, that of an interface or of another type. It is not ok if that cannot be made.
func (r *Registry) compiledMethod(m *types.Func, ofInterface bool) (s compiledSignature, ok bool) {
	s = compiledSignature{name: m.Name(), of: m.Signature()}
	if !m.Exported() {
		s.path = origin.ImportPath(m.Pkg())
		s.ofCell = origin.Interpreted(m.Pkg())
	}
	if s.in = r.compiledInterface(m); s.in != nil {
		method, _ := s.in.MethodByName(m.Name())
		s.typ = method.Type
		return s, true
	}
	typ, err := r.methodType(s.of, ofInterface)
	s.typ = typ
	return s, err == nil
}

// methodSignature is the type that the method of a type or of an interface has got for a signature. It is final once an interface has it.
type methodSignature struct {
	made  reflect.Type
	final bool
}

// methodType returns the type of a method with the signature s. A type has the methods of an interface only if their types are
// the same. So, once an interface has it, it stays the same when a type that it mentions gets a method. The caller holds r.declared.mu.
func (r *Registry) methodType(s *types.Signature, ofInterface bool) (reflect.Type, error) {
	if !r.Mentions(s) {
		return r.declared.builder.Reflect(s)
	}
	d := r.Describe(types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic()))
	known, ok := r.declared.signatures[d]
	if !ok || !known.final && !ofInterface {
		made, err := r.declared.builder.Reflect(s)
		if err != nil {
			return nil, err
		}
		known = methodSignature{made: made}
	}
	known.final = known.final || ofInterface
	r.declared.signatures[d] = known
	return known.made, nil
}

// compiledInterface returns the compiled interface that declares the method m, or nil. Its methods may mention types that code of cells
// has not, such as those of unexported methods of reflect.Type, and iter.Seq as the compiler makes it.
func (r *Registry) compiledInterface(m *types.Func) reflect.Type {
	if recv := m.Signature().Recv().Type(); types.IsInterface(recv) {
		return r.Describe(recv).compiled
	}
	return nil
}

// allMethods returns the methods of pointers to t.
func (t *Type) allMethods() []*types.Selection {
	return slices.Collect(types.NewMethodSet(types.NewPointer(t.typ)).Methods())
}

// methodNames returns the methods of d for a declaration.
func (d *declaredType) methodNames() (list []named.MethodName) {
	for _, selection := range d.names {
		m, path := selection.Obj(), ""
		if !m.Exported() {
			path = origin.ImportPath(m.Pkg())
		}
		list = append(list, named.MethodName{Name: m.Name(), Path: path, Pointer: d.byPointer(origin.MethodKey(m))})
	}
	return list
}

// byPointer reports whether only pointers have the method.
func (d *declaredType) byPointer(name string) bool {
	return d.t.methodSet().find(name) == nil
}

// methodsOf returns methods of d with their code, that of the type made before where it is the same. The types of the session share the code
// then: a type that gets one method per cell would otherwise need code for all its methods in each.
func (r *Registry) methodsOf(d *declaredType, signatures []compiledSignature) (methods []named.Method) {
	earlier := d.t.declared.Load()
	d.calls = nil
	for _, m := range signatures {
		if m.ofCell {
			methods = append(methods, named.Method{Name: m.name, Path: m.path, Type: m.typ})
			continue
		}
		c := &compiledCall{t: d.t, memory: d.made.Type(), compiledSignature: m}
		if d.byPointer(m.name) {
			c.t, c.memory = d.t.pointer(), reflect.PointerTo(c.memory)
		}
		in := slices.Insert(slices.Collect(m.typ.Ins()), 0, reflect.TypeFor[unsafe.Pointer]())
		f := reflect.FuncOf(in, slices.Collect(m.typ.Outs()), m.typ.IsVariadic())
		methods = append(methods, named.Method{Name: m.name, Path: m.path, Type: m.typ, Word: r.entry(c, f), Earlier: earlier.with(c)})
		d.calls = append(d.calls, c)
	}
	return methods
}

// with returns the type of d if it has the method c; d may be nil.
func (d *declaredType) with(c *compiledCall) *named.Type {
	if d == nil {
		return nil
	}
	for _, known := range d.calls {
		if known.name == c.name && known.path == c.path && known.t == c.t && known.in == c.in && types.Identical(known.of, c.of) {
			return d.made
		}
	}
	return nil
}

// compiledCall is a method of a made type for calls from compiled packages.
type compiledCall struct {
	compiledSignature
	t      *Type
	memory reflect.Type // the made type that has the method
	found  atomic.Pointer[foundMethod]
}

// foundMethod is a Method until another method is registered.
type foundMethod struct {
	*Method
	registered int64
}

// Call runs the method for any signature. word is the data word of the receiver; see named.Method.Word.
func (c *compiledCall) Call(word unsafe.Pointer, in []reflect.Value) []reflect.Value {
	r, m := c.t.registry, c.method()
	if c.in != nil && c.path != "" {
		return c.throughTable(m.Value(word), in)
	}
	word = c.received(m, word)
	for m.Code == nil {
		x := m.Value(word)
		if m = r.Method(x, c.name); m == nil {
			return call(r.Bound(x, c.name), in)
		}
		word = interfaceWords(&x)[1]
	}
	if m.Receiver != nil {
		word = m.Receiver(word)
	}
	lowered := m.Code.Type()
	for i := range in {
		in[i] = retyped(in[i], lowered.In(i+1))
	}
	out := m.Code.Call(word, in)
	for i := range out {
		out[i] = retyped(out[i], c.typ.Out(i))
	}
	return out
}

// received returns the data word of a receiver that nothing changes while the method m runs: the methods of a type and of pointers to it
// have the same code, so word may be the address of a variable.
func (c *compiledCall) received(m *Method, word unsafe.Pointer) unsafe.Pointer {
	switch {
	case c.memory.Kind() == reflect.Pointer || named.IsDirect(c.memory):
		return word
	case m.Code != nil && m.Receiver == nil && word == nil:
		panic(&named.NilReceiverError{Path: "main", Type: c.memory.Name(), Method: c.name})
	case m.Code != nil && m.Receiver == nil:
		return m.Code.Receiver(word)
	case word == nil:
		return nil
	}
	return copyOf(c.memory, word)
}

// throughTable calls the method of x, which implements c.in, as compiled code does: package reflect does not call unexported methods.
func (c *compiledCall) throughTable(x any, in []reflect.Value) []reflect.Value {
	offset, ok := named.MethodOffset(c.in, c.name)
	if !ok {
		panic(missingMethodError{c.t.name, c.name})
	}
	value := reflect.New(c.in)
	value.Elem().Set(reflect.ValueOf(x))
	words := *(*[2]unsafe.Pointer)(value.UnsafePointer())
	code := unsafe.Add(words[0], offset)
	f := reflect.FuncOf(slices.Insert(slices.Collect(c.typ.Ins()), 0, reflect.TypeFor[unsafe.Pointer]()), slices.Collect(c.typ.Outs()), c.typ.IsVariadic())
	return call(reflect.NewAt(f, unsafe.Pointer(&code)).Elem(), slices.Insert(in, 0, reflect.ValueOf(words[1])))
}

// call calls f, whose variadic parameter gets a slice.
func call(f reflect.Value, in []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(in)
	}
	return f.Call(in)
}

// method returns what call runs.
func (c *compiledCall) method() *Method {
	r := c.t.registry
	registered := r.registered.Load()
	if found := c.found.Load(); found != nil && found.registered == registered {
		return found.Method
	}
	m := c.t.find(c.name, c.memory)
	if m.Code != nil {
		lowered := m.Code.Type()
		if !c.takes(lowered) {
			panic(missingMethodError{c.t.name, c.name})
		}
		for i := range c.typ.NumIn() {
			r.meet(c.of.Params().At(i).Type(), lowered.In(i+1), c.typ.In(i))
		}
		for i := range c.typ.NumOut() {
			r.meet(c.of.Results().At(i).Type(), lowered.Out(i), c.typ.Out(i))
		}
	}
	c.found.Store(&foundMethod{m, registered})
	return m
}

// takes reports whether the arguments and results of c have the memory layout of those of a method with this signature. A value that a compiled
// package has kept can have an earlier type, whose methods have other signatures.
func (c *compiledCall) takes(lowered reflect.Type) bool {
	return lowered.NumIn() == c.typ.NumIn()+1 && lowered.NumOut() == c.typ.NumOut() && sameLayouts(c.typ, lowered, 1, map[[2]reflect.Type]bool{})
}

// meet makes the made type of values of t known, whose raw type is raw: compiled code can have values of it that have never been in
// an interface of a cell.
func (r *Registry) meet(t types.Type, raw, made reflect.Type) {
	if raw == made {
		return
	}
	if _, known := r.made.Load(typeWord(made)); !known {
		r.register(view{r.Describe(t), raw}, made, -1) // box makes the type again, in case it has got methods
	}
}
