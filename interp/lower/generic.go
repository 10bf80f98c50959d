package lower

// Generics become one function or type for each list of type arguments:
//
//	Map[int, string](xs, f)   ->  Mapʹintʹstringʹ1(xs, f)
//	Stack[int]                ->  type Stackʹintʹ1 struct {...}
//	s.Push(1)                 ->  Stackʹintʹ1ʹPushʹ1(&s, 1)
//	s.Map[string](f)          ->  Stackʹintʹ1ʹMapʹstringʹ1(&s, f)
//	slices.Sort(xs)           ->  slicesʹSortʹ...ʹ1(xs), from the sources of Config.Generic
//
// The key of an instance consists of type identifiers and not of rendered types, because all
// interpreted interfaces are rendered alike. yaegi's own generics infer types incorrectly and do not
// support methods, constraints and aliases.

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/origin"
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
		e.arguments[key] = args
	}
	return key
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

// typeInstance returns the name of an instance of a generic type.
func (e *emitter) typeInstance(t *types.Named) string {
	args := typeList(t.TypeArgs())
	base, _, _ := strings.Cut(t.Obj().Name(), "[") // see rt.LocalTypeName
	compiled := t
	if pkg := t.Obj().Pkg(); !origin.Interpreted(pkg) {
		base = pkg.Name() + "ʹ" + base
		t = e.sourceType(t)
	}
	key := e.instanceOf(t.Origin().Obj(), args)
	if name, ok := e.instances[key]; ok {
		return name
	}
	name := e.nameType(t, e.instanceName(base, args))
	set(e.Program, e.instances, key, name)
	origin := t.Origin().Obj()
	set(e.Program, e.existing, origin, append(e.existing[origin][:len(e.existing[origin]):len(e.existing[origin])], t))
	e.queue = append(e.queue, func() {
		e.typeDeclaration(t, name)
		e.queueTables(t)
		if compiled != t {
			e.methodTables(compiled)
		}
	})
	return name
}

func typeList(l *types.TypeList) []types.Type {
	out := make([]types.Type, l.Len())
	for i := range out {
		out[i] = l.At(i)
	}
	return out
}

// functionInstance returns the name of an instance of a generic function.
func (e *emitter) functionInstance(at ast.Node, o *types.Func, args []types.Type) string {
	decl := e.genericFunction(o)
	base := o.Name()
	if !origin.Interpreted(o.Pkg()) {
		base = o.Pkg().Name() + "ʹ" + base
	}
	if decl == nil {
		e.unsupported(at, "the generic function "+o.FullName(), absent)
	}
	o = e.Info.Defs[decl.Name].(*types.Func)
	key := e.instanceOf(o, args)
	if name, ok := e.instances[key]; ok {
		return name
	}
	name := e.instanceName(base, args)
	set(e.Program, e.instances, key, name)
	e.declareInstance(decl, key, name, args)
	return name
}

// genericFunction returns the declaration of a generic function, or nil if it is unknown.
func (e *emitter) genericFunction(o *types.Func) *ast.FuncDecl {
	if !origin.Interpreted(o.Pkg()) {
		if src := e.sourceOf(o.Pkg()); src != nil {
			return src.funcs[o.Name()]
		}
	}
	return e.generics[o]
}

// genericMethod returns the declaration of a method of a generic type.
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

// methodInstance returns the name of a method of an instance of a generic type, or of an instance of a
// generic method. own are the type arguments of the method itself.
func (e *emitter) methodInstance(t *types.Named, method string, own []types.Type) string {
	typ := e.typ(t)
	args := append(typeList(t.TypeArgs()), own...)
	decl := e.genericMethod(t, method)
	o := e.Info.Defs[decl.Name].(*types.Func)
	key := e.instanceOf(o, args)
	if name, ok := e.instances[key]; ok {
		return name
	}
	name := e.instanceName(mangle(typ)+"ʹ"+method, own)
	set(e.Program, e.instances, key, name)
	e.declareInstance(decl, key, name, args)
	return name
}

// arguments returns the type arguments of the instance that id denotes.
func (f *functionTypes) arguments(id *ast.Ident) ([]types.Type, bool) {
	in, ok := f.Info.Instances[id]
	if !ok {
		return nil, false
	}
	args := typeList(in.TypeArgs)
	for i := range args {
		args[i] = f.subst(args[i])
	}
	return args, true
}
