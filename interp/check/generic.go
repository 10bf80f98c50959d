package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/origin"
)

// Methods on generic types of earlier cells. The method
//
//	func (s *Stack[T]) Len() int {...}
//
// is checked as the generic function
//
//	func name[T constraint](s *Stack[T]) Len() int {...}
//
// with the constraint in the declaration of Stack. Its type parameters become those of the
// method. Existing instances of Stack have their own copies of methods, which go/types creates
// on demand. They are removed, so that go/types creates them again from the new list.

// asGenericFunction is asFunction for a method of a generic type whose declaration has the type
// parameters params.
func asGenericFunction(f *ast.FuncDecl, name string, params *ast.FieldList) (*ast.FuncDecl, error) {
	receiver := *f.Recv.List[0]
	own, typ, err := receiverParameters(receiver.Type)
	if err != nil {
		return nil, err
	}
	renamed := map[string]*ast.Ident{}
	list := &ast.FieldList{Opening: receiver.Type.Pos(), Closing: receiver.Type.Pos()}
	for _, field := range params.List {
		for _, n := range field.Names {
			if len(list.List) == len(own) {
				return nil, fmt.Errorf("receiver declares %d type parameters, but the type has more", len(own))
			}
			id := own[len(list.List)]
			renamed[n.Name] = id
			list.List = append(list.List, &ast.Field{Names: []*ast.Ident{id}, Type: field.Type})
		}
	}
	if len(own) > len(list.List) {
		return nil, fmt.Errorf("receiver declares %d type parameters, but the type has %d", len(own), len(list.List))
	}
	rename(params, renamed, receiver.Type.Pos())
	receiver.Type = typ
	method := *f
	method.Recv = &ast.FieldList{Opening: f.Recv.Opening, List: []*ast.Field{&receiver}, Closing: f.Recv.Closing}
	function := asFunction(&method, name)
	function.Type.TypeParams = list
	return function, nil
}

// receiverParameters returns the type parameters of a receiver type, and the type in which
// blank type parameters have names.
func receiverParameters(t ast.Expr) (params []*ast.Ident, named ast.Expr, err error) {
	switch t := t.(type) {
	case *ast.ParenExpr:
		return receiverParameters(t.X)
	case *ast.StarExpr:
		params, x, err := receiverParameters(t.X)
		return params, &ast.StarExpr{Star: t.Star, X: x}, err
	case *ast.IndexExpr:
		params, err := parameterNames([]ast.Expr{t.Index})
		if err != nil {
			return nil, nil, err
		}
		return params, &ast.IndexExpr{X: t.X, Lbrack: t.Lbrack, Index: params[0], Rbrack: t.Rbrack}, nil
	case *ast.IndexListExpr:
		params, err := parameterNames(t.Indices)
		list := &ast.IndexListExpr{X: t.X, Lbrack: t.Lbrack, Rbrack: t.Rbrack}
		for _, p := range params {
			list.Indices = append(list.Indices, p)
		}
		return params, list, err
	}
	return nil, nil, fmt.Errorf("cannot use generic type %s without instantiation", types.ExprString(t))
}

func parameterNames(list []ast.Expr) ([]*ast.Ident, error) {
	var params []*ast.Ident
	for i, x := range list {
		id, ok := x.(*ast.Ident)
		if !ok {
			return nil, fmt.Errorf("receiver type parameter %s must be an identifier", types.ExprString(x))
		}
		if id.Name == "_" {
			id = &ast.Ident{NamePos: id.NamePos, Name: fmt.Sprintf("ʹ%d", i)}
		}
		params = append(params, id)
	}
	return params, nil
}

// rename moves the constraints of a type parameter list to pos, and replaces the names of type
// parameters in them by those of the receiver.
func rename(params *ast.FieldList, names map[string]*ast.Ident, pos token.Pos) {
	labels := map[*ast.Ident]bool{} // names of methods and fields, and selectors
	for _, field := range params.List {
		ast.Inspect(field.Type, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				for _, id := range n.Names {
					labels[id] = true
				}
			case *ast.SelectorExpr:
				labels[n.Sel] = true
			case *ast.Ident:
				n.NamePos = pos
				if id := names[n.Name]; id != nil && !labels[n] {
					n.Name = id.Name
				}
			}
			return true
		})
	}
}

// typeParameters parses the type parameter list of the live generic type name.
func (c *Checker) typeParameters(name string) *ast.FieldList {
	d := c.declarations[name]
	if d == nil {
		return nil
	}
	text := d.text
	if !strings.HasPrefix(text, "type") {
		text = "type " + text
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, decl := range file.Decls {
		if g, ok := decl.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == name {
					return s.TypeParams
				}
			}
		}
	}
	return nil
}

// setReceiverParameters makes the type parameters of the function f those of the receiver of
// the method signature sig.
func setReceiverParameters(sig, f *types.Signature) {
	field := reflect.ValueOf(sig).Elem().FieldByName("rparams")
	*(**types.TypeParamList)(unsafe.Pointer(field.UnsafeAddr())) = f.TypeParams()
}

// resetInstances removes the methods that go/types has created for instances of generic types.
// It finds the instances through the session's own facts and the types of option [Types].
func (c *Checker) resetInstances(bases map[*types.Named]bool, info *types.Info) {
	w := &typeWalk{seen: map[types.Type]bool{}, visit: func(t *types.Named) {
		if t.TypeArgs().Len() > 0 && bases[t.Origin()] {
			resetMethods(t)
		}
	}}
	for _, o := range c.live {
		w.walk(o.Type())
	}
	for _, i := range []*types.Info{c.info, info} {
		for _, tv := range i.Types {
			w.walk(tv.Type)
		}
		for o := range maps.Values(i.Defs) {
			if o != nil {
				w.walk(o.Type())
			}
		}
		for o := range maps.Values(i.Uses) {
			w.walk(o.Type())
		}
		for in := range maps.Values(i.Instances) {
			w.walk(in.Type)
		}
	}
	if c.inUse != nil {
		for _, t := range c.inUse() {
			w.walk(t)
		}
	}
}

// Types sets a function that returns further types that are in use. When a cell adds a method
// to a generic type, their instances get it too.
func Types(inUse func() []types.Type) Option { return func(c *Checker) { c.inUse = inUse } }

// A typeWalk visits the named types that a type consists of.
type typeWalk struct {
	seen    map[types.Type]bool
	visit   func(*types.Named)
	shallow bool // do not visit the components of a named type, except its type arguments
}

func (w *typeWalk) walk(t types.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.walk(types.Unalias(t))
	case *types.Named:
		if pkg := t.Obj().Pkg(); pkg != nil && !origin.Interpreted(pkg) && t.TypeArgs().Len() == 0 {
			return
		}
		for arg := range t.TypeArgs().Types() {
			w.walk(arg)
		}
		if w.shallow {
			w.visit(t)
			return
		}
		for p := range t.TypeParams().TypeParams() {
			w.walk(p)
		}
		w.walk(t.Underlying())
		for _, m := range *methodsOf(t) {
			if m != nil {
				w.walk(m.Type())
			}
		}
		for _, other := range contextOf(t) {
			w.walk(other)
		}
		w.visit(t)
	case *types.Pointer:
		w.walk(t.Elem())
	case *types.Slice:
		w.walk(t.Elem())
	case *types.Array:
		w.walk(t.Elem())
	case *types.Chan:
		w.walk(t.Elem())
	case *types.Map:
		w.walk(t.Key())
		w.walk(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			w.walk(f.Type())
		}
	case *types.Tuple:
		for v := range t.Variables() {
			w.walk(v.Type())
		}
	case *types.TypeParam:
		w.walk(t.Constraint())
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			w.walk(p)
		}
		if t.Recv() != nil {
			w.walk(t.Recv().Type())
		}
		w.walk(t.Params())
		w.walk(t.Results())
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			w.walk(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			w.walk(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			w.walk(term.Type())
		}
	}
}

// Access to unexported fields of go/types about the instances of generic types. A test fails
// if go/types changes these fields.

// hasMethods is the bit in the state of a named type that is set once all its methods have
// been created.
const hasMethods = 1 << 2

func instanceField(t *types.Named, name string) reflect.Value {
	return reflect.ValueOf(t).Elem().FieldByName("inst").Elem().FieldByName(name)
}

// contextOf returns the instances that go/types may reuse when it expands t.
func contextOf(t *types.Named) []types.Type {
	if t.TypeArgs().Len() == 0 {
		return nil
	}
	field := instanceField(t, "ctxt")
	if field.IsNil() {
		return nil
	}
	var list []types.Type
	for entries := field.Elem().FieldByName("typeMap").MapRange(); entries.Next(); {
		for i := range entries.Value().Len() {
			if named := entries.Value().Index(i).FieldByName("instance").Elem(); named.Type() == reflect.TypeFor[*types.Named]() {
				list = append(list, (*types.Named)(named.UnsafePointer()))
			}
		}
	}
	return list
}

// resetMethods makes go/types create the methods of an instance again.
func resetMethods(t *types.Named) {
	if t.Origin() == t {
		return
	}
	*methodsOf(t) = nil
	*(*int)(unsafe.Pointer(instanceField(t, "expandedMethods").UnsafeAddr())) = 0
	context := (**types.Context)(unsafe.Pointer(instanceField(t, "ctxt").UnsafeAddr()))
	if *context == nil {
		*context = types.NewContext()
	}
	state := (*uint32)(unsafe.Pointer(reflect.ValueOf(t).Elem().FieldByName("state_").UnsafeAddr()))
	atomic.AndUint32(state, ^uint32(hasMethods))
}

// genericBases returns the generic types to which methods are added.
func genericBases(methods []*addedMethod) map[*types.Named]bool {
	bases := map[*types.Named]bool{}
	for _, m := range methods {
		if m.method != nil && m.base.TypeParams().Len() > 0 {
			bases[m.base] = true
		}
	}
	return bases
}

// adoptParameters gives methods of generic types the type parameters and the variables of the
// functions that were checked in their place, because the facts about the bodies refer to
// them.
func (a *attempt) adoptParameters() {
	for _, m := range a.methods {
		f, ok := a.info.Defs[m.check.Name].(*types.Func)
		if !ok || m.method == nil || f.Signature().TypeParams().Len() == 0 {
			continue
		}
		sig := methodSignature(f.Signature())
		*m.method.Signature() = *sig
	}
}

// methodSignature returns the signature of the method whose receiver is the first parameter
// of f.
func methodSignature(f *types.Signature) *types.Signature {
	params := slices.Collect(f.Params().Variables())
	sig := types.NewSignatureType(params[0], nil, nil, types.NewTuple(params[1:]...), f.Results(), f.Variadic())
	if f.TypeParams().Len() > 0 {
		setReceiverParameters(sig, f)
	}
	return sig
}
