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
)

// Methods on generic types of earlier cells.
//
//	func (s *Stack[T]) Len() int {...}
//
// is checked as the generic function
//
//	func name[T constraint](s *Stack[T]) Len() int {...}
//
// with the constraint that the declaration of Stack has. Its type parameters
// become those of the method. The instances of Stack that exist already have
// copies of the method list, made one by one when they are asked for: these are
// thrown away, so that they are made again from the new list.

// asGenericFunction is asFunction for a method of a generic type, whose
// declaration has the type parameters params.
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

// receiverParameters returns the type parameters of a receiver type, and the type
// with a name for each that is blank.
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

// rename moves the constraints of a type parameter list to pos and gives the
// parameters that they mention their names in the receiver.
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

// takeParameters makes the type parameters of the function f those of the
// receiver of the method signature sig.
func takeParameters(sig, f *types.Signature) {
	field := reflect.ValueOf(sig).Elem().FieldByName("rparams")
	*(**types.TypeParamList)(unsafe.Pointer(field.UnsafeAddr())) = f.TypeParams()
}

// renewInstances makes the instances of generic types forget the methods that
// they have made. Whoever holds types must have told them: see [Types].
func (c *Checker) renewInstances(bases map[*types.Named]bool, info *types.Info) {
	w := &typeWalk{seen: map[types.Type]bool{}, visit: func(t *types.Named) {
		if t.TypeArgs().Len() > 0 && bases[t.Origin()] {
			renew(t)
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
	if c.held != nil {
		for _, t := range c.held() {
			w.walk(t)
		}
	}
}

// Types names the types that others keep: what they hold must be up to date
// when a cell adds a method to a generic type.
func Types(held func() []types.Type) Option { return func(c *Checker) { c.held = held } }

// A typeWalk visits the named types that a type is made of.
type typeWalk struct {
	seen    map[types.Type]bool
	visit   func(*types.Named)
	shallow bool // not into what a named type is made of, but for its type arguments
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
		if pkg := t.Obj().Pkg(); pkg != nil && pkg.Path() != "main" && t.TypeArgs().Len() == 0 {
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

// What go/types knows of the expansion of an instance, by the names of its
// fields. A test pins them.

// hasMethods is the bit of a named type's state that says that all of its
// methods are made.
const hasMethods = 1 << 2

func instanceField(t *types.Named, name string) reflect.Value {
	return reflect.ValueOf(t).Elem().FieldByName("inst").Elem().FieldByName(name)
}

// contextOf lists the instances that the expansion of t may give.
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

// renew takes the methods of an instance back to where none is made.
func renew(t *types.Named) {
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

// genericBases returns the generic types that methods are added to.
func genericBases(methods []*addedMethod) map[*types.Named]bool {
	bases := map[*types.Named]bool{}
	for _, m := range methods {
		if m.method != nil && m.base.TypeParams().Len() > 0 {
			bases[m.base] = true
		}
	}
	return bases
}

// adoptParameters gives the methods of generic types the type parameters and
// the variables of the functions that were checked in their place: those are
// what the facts about their bodies mention.
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

// methodSignature returns the signature of the method whose receiver is the first
// parameter of f.
func methodSignature(f *types.Signature) *types.Signature {
	params := slices.Collect(f.Params().Variables())
	sig := types.NewSignatureType(params[0], nil, nil, types.NewTuple(params[1:]...), f.Results(), f.Variadic())
	if f.TypeParams().Len() > 0 {
		takeParameters(sig, f)
	}
	return sig
}
