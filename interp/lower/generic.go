package lower

// Generics become one function or type for each list of type arguments:
//
//	Map[int, string](xs, f)   ->  Mapʹintʹstringʹ1
//	Stack[int]                ->  Stackʹintʹ1
//	s.Push(1)                 ->  Stackʹintʹ1ʹPushʹ1
//	s.Map[string](f)          ->  Stackʹintʹ1ʹMapʹstringʹ1
//	slices.Sort(xs)           ->  slicesʹSortʹ...ʹ1, from the sources of Config.Generic
//
// The key of an instance consists of type identifiers, because types of different cells may have the same text.

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/typeparts"
	"github.com/quernlab/quern/interp/vm/compile"
)

// instance is the key of an instance of a generic object.
type instance struct {
	object types.Object
	types  string
}

func (e *emitter) instanceOf(o types.Object, args []types.Type) instance {
	ids := make([]string, len(args))
	for i, t := range args {
		ids[i] = strconv.Itoa(e.Registry.ID(t))
	}
	key := instance{o, strings.Join(ids, ",")}
	if e.arguments[key] == nil {
		left := maxParts
		for _, t := range args {
			if deeper(t, maxNesting, &left) {
				e.unsupported(&ast.Ident{NamePos: o.Pos()}, "a type argument of "+o.Name()+" that is nested so deeply", "does it instantiate itself with more and more types?")
			}
		}
		e.arguments[key] = args
	}
	return key
}

// maxNesting is how deeply type arguments may be nested, and maxParts how many parts they may have. Package types does not look for
// cycles of instantiations, which compiled Go rejects, if something in the cell is not used.
const maxNesting, maxParts = 50, 10_000

// deeper reports whether types are nested in t more than n levels deep, or t has more parts than are left.
func deeper(t types.Type, n int, left *int) bool {
	if *left--; n < 0 || *left < 0 {
		return true
	}
	below := func(part types.Type) bool { return deeper(part, n-1, left) }
	if t, ok := types.Unalias(t).(*types.Named); ok {
		return slices.ContainsFunc(typeList(t.TypeArgs()), below)
	}
	return typeparts.Any(t, below)
}

// instanceName returns a unique name that contains the type arguments.
func (e *emitter) instanceName(base string, args []types.Type) string {
	for _, t := range args {
		base += "ʹ" + mangle(types.TypeString(t, func(*types.Package) string { return "" }))
	}
	if len(base) > 80 {
		base = strings.ToValidUTF8(base[:80], "")
	}
	return e.fresh(base)
}

// typeInstance returns the name of an instance of a generic type. When it meets the instance for the first time, it queues the
// compilation of its methods: values of it may become interface values.
func (e *emitter) typeInstance(t *types.Named) string {
	base := t.Obj().Name()
	source := t
	if pkg := t.Obj().Pkg(); !origin.Interpreted(pkg) {
		base = pkg.Name() + "ʹ" + base
		source = e.sourceType(t)
	}
	args := typeList(t.TypeArgs())
	key := e.instanceOf(source.Origin().Obj(), args)
	if name, ok := e.instances[key]; ok {
		return name
	}
	name := e.instanceName(base, args)
	set(e.Program, e.instances, key, name)
	generic := source.Origin().Obj()
	set(e.Program, e.existing, generic, append(e.existing[generic][:len(e.existing[generic]):len(e.existing[generic])], source))
	if source != t {
		set(e.Program, e.public, key, t)
	}
	e.queueMethods(source)
	return name
}

// queueMethods queues the compilation of the methods of an instance of a generic type.
func (e *emitter) queueMethods(t *types.Named) {
	declared := e.methods[t.Origin().Obj()]
	if declared == nil || types.IsInterface(t) {
		return
	}
	e.queue = append(e.queue, func() {
		for _, name := range declared.order {
			if e.Info.Defs[declared.byName[name].Name].(*types.Func).Signature().TypeParams() == nil {
				e.methodInstance(t, name, nil)
			}
		}
	})
}

// functionInstance returns the declaration of an instance of a generic function.
func (e *emitter) functionInstance(at ast.Node, o *types.Func, args []types.Type) compile.Declaration {
	decl := e.genericFunction(o)
	base := o.Name()
	if !origin.Interpreted(o.Pkg()) {
		base = o.Pkg().Name() + "ʹ" + base
	}
	if decl == nil {
		e.unsupported(at, "the generic function "+o.FullName(), absent)
	}
	return e.instantiate(decl, args, func() string { return e.instanceName(base, args) })
}

// genericFunction returns the declaration of a generic function, or nil if it is unknown.
func (e *emitter) genericFunction(o *types.Func) *ast.FuncDecl {
	if !origin.Interpreted(o.Pkg()) {
		if src := e.sourceOf(o.Pkg()); src != nil {
			return e.function(src, o.Name())
		}
	}
	return e.generics[o]
}

// genericMethod returns the declaration of a method of a generic type, or of a generic method.
func (e *emitter) genericMethod(t *types.Named, method string) *ast.FuncDecl {
	if !origin.Interpreted(t.Obj().Pkg()) {
		t = e.sourceType(t)
	}
	declared := e.methods[t.Origin().Obj()]
	if declared == nil || declared.byName[method] == nil {
		panic("no method " + method + " on " + t.String())
	}
	return declared.byName[method]
}

// methodInstance returns the declaration of a method of an instance of a generic type, or of an instance of a
// generic method. own are the type arguments of the method itself.
func (e *emitter) methodInstance(t *types.Named, method string, own []types.Type) compile.Declaration {
	base := t.Obj().Name()
	if t.TypeArgs().Len() > 0 {
		base = e.typeInstance(t)
	}
	args := append(typeList(t.TypeArgs()), own...)
	return e.instantiate(e.genericMethod(t, method), args, func() string { return e.instanceName(base+"ʹ"+method, own) })
}

// instantiate returns the declaration of an instance, and queues its compilation when it meets it for the first time. name makes the
// name of a new one.
func (e *emitter) instantiate(decl *ast.FuncDecl, args []types.Type, name func() string) compile.Declaration {
	o := e.Info.Defs[decl.Name].(*types.Func)
	key, sig := e.instanceOf(o, args), o.Signature()
	var env *environment // made when it is needed: most calls are of an instance that is compiled already
	subst := func(t types.Type) types.Type {
		if env == nil {
			env = e.instanceEnvironment(decl, args)
		}
		return env.subst(t)
	}
	d := compile.Declaration{Key: key, Method: methodName(o), Signature: sig, Body: decl.Body, Substitute: subst}
	if sig.Recv() != nil && sig.TypeParams() == nil {
		n := sig.RecvTypeParams().Len()
		if t := e.public[e.instanceOf(receiver(sig).Obj(), args[:n])]; t != nil {
			d.Public = t
		}
	}
	if known, ok := e.instances[key]; ok {
		d.Name = known
		return d
	}
	d.Name = name()
	set(e.Program, e.instances, key, d.Name)
	e.queue = append(e.queue, func() { e.machine.AddInstance(d) })
	return d
}

// instanceEnvironment returns the environment of an instance, with the types that the function declares.
func (e *emitter) instanceEnvironment(decl *ast.FuncDecl, args []types.Type) *environment {
	env := newEnvironment(parametersOf(e.Info.Defs[decl.Name].(*types.Func).Signature()), args)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			env.localType(e.Info, spec)
		}
		return true
	})
	return env
}

// parametersOf returns the type parameters of a function or, for a method, those of the receiver and its
// own.
func parametersOf(sig *types.Signature) []*types.TypeParam {
	return slices.AppendSeq(slices.Collect(sig.RecvTypeParams().TypeParams()), sig.TypeParams().TypeParams())
}

// methodName returns the name of a method for calls through interfaces; "" for a function.
func methodName(o *types.Func) string {
	if o.Signature().Recv() == nil {
		return ""
	}
	return origin.MethodKey(o)
}
