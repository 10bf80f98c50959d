package rt

import (
	"errors"
	"go/token"
	"go/types"
	"log"
	"net/rpc"
	"reflect"
	"sync"
	"unsafe"
)

// Package net/rpc finds the methods of a receiver by reflection, which does not see the
// methods of types of cells. So this file creates the service of such a receiver itself,
// with functions in place of the methods, and stores it in the server's table.

// RegisterRPC is s.Register(x).
func (r *Registry) RegisterRPC(s *rpc.Server, x any) error { return r.registerRPC(s, x, "", false) }

// RegisterRPCName is s.RegisterName(name, x).
func (r *Registry) RegisterRPCName(s *rpc.Server, name string, x any) error {
	return r.registerRPC(s, x, name, true)
}

// rpcFunctions returns the replacements for functions of net/rpc.
func (r *Registry) rpcFunctions() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Register":     reflect.ValueOf(func(x any) error { return r.RegisterRPC(rpc.DefaultServer, x) }),
		"RegisterName": reflect.ValueOf(func(name string, x any) error { return r.RegisterRPCName(rpc.DefaultServer, name, x) }),
	}
}

func (r *Registry) registerRPC(s *rpc.Server, x any, name string, named bool) error {
	b, ok := r.unbox(x)
	switch {
	case !ok && named:
		return s.RegisterName(name, x)
	case !ok:
		return s.Register(x)
	}
	failed := func(text string) error {
		log.Print(text)
		return errors.New(text)
	}
	if !named {
		w := view{b.T, reflect.TypeOf(b.V)}
		if w.kind() == reflect.Pointer {
			w = w.elem()
		}
		name = w.name()
		if name == "" {
			return failed("rpc.Register: no service name for type " + b.T.name)
		}
		if !token.IsExported(name) {
			return failed("rpc.Register: type " + name + " is not exported")
		}
	}
	methods := b.T.rpcMethods()
	if len(methods) == 0 {
		text := "rpc.Register: type " + name + " has no exported methods of suitable type"
		if _, pointer := b.T.typ.Underlying().(*types.Pointer); !pointer && len(b.T.pointer().rpcMethods()) > 0 {
			text += " (hint: pass a pointer to value of that type)"
		}
		return failed(text)
	}
	service := rpcService()
	if service == nil {
		panic(&EncodingError{Package: "net/rpc", Unseen: "the methods of " + b.T.name + ", because Quern does not know this Go release's net/rpc; update Quern"})
	}
	made := reflect.New(service.typ)
	set := func(v reflect.Value, field string, value reflect.Value) {
		f := v.Elem().FieldByName(field)
		reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(value)
	}
	set(made, "name", reflect.ValueOf(name))
	set(made, "rcvr", reflect.ValueOf(reflect.ValueOf(x)))
	set(made, "typ", reflect.ValueOf(reflect.TypeOf(x)))
	table := reflect.MakeMap(service.methods)
	for _, m := range methods {
		f, argument, reply := b.rpcFunction(m)
		entry := reflect.New(service.methods.Elem().Elem())
		set(entry, "method", reflect.ValueOf(reflect.Method{Name: m.Name(), Type: f.Type(), Func: f}))
		set(entry, "ArgType", reflect.ValueOf(argument))
		set(entry, "ReplyType", reflect.ValueOf(reply))
		table.SetMapIndex(reflect.ValueOf(m.Name()), entry)
	}
	set(made, "method", table)
	if _, known := rpcServices(s).LoadOrStore(name, made.Interface()); known {
		return errors.New("rpc: service already defined: " + name)
	}
	return nil
}

// rpcMethods returns the methods that net/rpc would register for a service.
func (t *Type) rpcMethods() (list []*types.Func) {
	for _, selection := range t.set.Load().byID {
		m := selection.Obj().(*types.Func)
		sig := m.Signature()
		if !m.Exported() || sig.Params().Len() != 2 || sig.Variadic() || sig.Results().Len() != 1 {
			continue
		}
		argument, reply := sig.Params().At(0).Type(), sig.Params().At(1).Type()
		_, pointer := reply.Underlying().(*types.Pointer)
		if pointer && exportedOrBuiltin(argument) && exportedOrBuiltin(reply) && types.Identical(sig.Results().At(0).Type(), types.Universe.Lookup("error").Type()) {
			list = append(list, m)
		}
	}
	return list
}

func exportedOrBuiltin(t types.Type) bool {
	for {
		t = types.Unalias(t)
		p, ok := t.(*types.Pointer)
		if !ok {
			break
		}
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return !ok || n.Obj().Exported() || n.Obj().Pkg() == nil
}

// rpcFunction returns the function that calls the method m of b, with the types of its
// argument and reply as the codecs must see them.
func (b Box) rpcFunction(m *types.Func) (f reflect.Value, argument, reply reflect.Type) {
	r, sig, raw := b.T.registry, m.Signature(), b.method(m.Name()).value.Type()
	in := func(i int) (view, reflect.Type) {
		w := view{r.child(sig.Params().At(i).Type()), raw.In(i + 1)}
		return w, r.encodableType("net/rpc", w)
	}
	argumentView, argument := in(0)
	replyView, reply := in(1)
	t := reflect.FuncOf([]reflect.Type{reflect.TypeFor[any](), argument, reply}, []reflect.Type{errorType}, false)
	f = reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		out := b.method(m.Name()).call(b, underlying(args[1], argumentView.t), underlying(args[2], replyView.t))
		err := reflect.New(errorType).Elem()
		if x := out[0]; !x.IsNil() {
			err.Set(reflect.ValueOf(x.Interface()))
		}
		return []reflect.Value{err}
	})
	return f, argument, reply
}

// underlying returns v as a value of type t, which has the same memory layout.
func underlying(v reflect.Value, t reflect.Type) reflect.Value {
	if v.Type() == t {
		return v
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return reflect.NewAt(t, p.UnsafePointer()).Elem()
}

// rpcServiceType has the types of a service in package net/rpc and of its method table.
type rpcServiceType struct{ typ, methods reflect.Type }

// rpcProbe is a receiver that is registered to find out these types.
type rpcProbe struct{}

// Probe has the signature of a method of a service.
func (rpcProbe) Probe(int, *int) error { return nil }

// rpcService returns the types of a service, or nil if they are not as expected in this
// Go release.
var rpcService = sync.OnceValue(func() *rpcServiceType {
	s := rpc.NewServer()
	services := rpcServices(s)
	if services == nil || s.RegisterName("probe", rpcProbe{}) != nil {
		return nil
	}
	x, _ := services.Load("probe")
	t := reflect.TypeOf(x)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	t = t.Elem()
	has := func(t reflect.Type, name string, typ reflect.Type) bool {
		f, ok := t.FieldByName(name)
		return ok && (typ == nil || f.Type == typ)
	}
	if !has(t, "name", reflect.TypeFor[string]()) || !has(t, "rcvr", reflect.TypeFor[reflect.Value]()) || !has(t, "typ", reflect.TypeFor[reflect.Type]()) || !has(t, "method", nil) {
		return nil
	}
	methods, _ := t.FieldByName("method")
	if methods.Type.Kind() != reflect.Map || methods.Type.Key() != reflect.TypeFor[string]() || methods.Type.Elem().Kind() != reflect.Pointer {
		return nil
	}
	entry := methods.Type.Elem().Elem()
	if entry.Kind() != reflect.Struct || !has(entry, "method", reflect.TypeFor[reflect.Method]()) || !has(entry, "ArgType", reflect.TypeFor[reflect.Type]()) || !has(entry, "ReplyType", reflect.TypeFor[reflect.Type]()) {
		return nil
	}
	return &rpcServiceType{t, methods.Type}
})

// rpcServices returns the table of services of a server, or nil if this Go release has
// another one.
func rpcServices(s *rpc.Server) *sync.Map {
	f, ok := reflect.TypeFor[rpc.Server]().FieldByName("serviceMap")
	if !ok || f.Type != reflect.TypeFor[sync.Map]() {
		return nil
	}
	return (*sync.Map)(unsafe.Add(unsafe.Pointer(s), f.Offset))
}
