package check

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"github.com/quernlab/quern/interp/facts"
)

// Methods on types of earlier cells.
//
// go/types collects the methods of a type together with its declaration and cannot add one
// later. So such a method is checked as a function with the receiver as its first parameter.
// Before the check it is inserted into the method list of the type, so that the cell itself can
// use it. If the cell fails, it is removed again.

// An addedMethod is a method that a cell adds to a type of an earlier cell.
type addedMethod struct {
	decl   *ast.FuncDecl // as the user wrote it
	check  *ast.FuncDecl // the function that go/types checks instead
	base   *types.Named
	method *types.Func
	old    *types.Func   // the method that it replaces, or nil
	before []*types.Func // the methods of base before the method was inserted
}

// hides returns the method of an embedded field that the type had under the same name before; nil if there is none.
func (m *addedMethod) hides() *types.Func {
	if m.method == nil { // it has an error
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(m.base.Underlying(), true, m.method.Pkg(), m.method.Name()) // this type has no methods of its own
	hidden, ok := o.(*types.Func)
	if !ok || hidden.Pkg() != m.method.Pkg() {
		return nil
	}
	return hidden
}

// laterMethods finds the methods in the file whose type is live and not declared by the cell,
// and replaces them by functions.
func (a *attempt) laterMethods() {
	for i, d := range a.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		base, _ := facts.ReceiverBase(f)
		if a.declared[base] {
			base = a.aliased(base)
		}
		tn, ok := a.lookup(base).(*types.TypeName)
		if !ok {
			continue // go/types reports the error
		}
		t := types.Unalias(tn.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		named, ok := t.(*types.Named)
		if !ok || named.Obj().Pkg() != a.pkg || named.TypeArgs().Len() > 0 {
			a.file.Decls[i] = &ast.GenDecl{TokPos: d.Pos(), Tok: token.VAR}
			a.fail(f.Recv.Pos(), fmt.Sprintf("cannot define a method on %s, which is not a type of this notebook", base))
			continue
		}
		if f.Type.TypeParams != nil {
			a.file.Decls[i] = &ast.GenDecl{TokPos: d.Pos(), Tok: token.VAR}
			a.fail(f.Type.TypeParams.Pos(), fmt.Sprintf("the generic method %s must be in the cell that declares %s", f.Name.Name, base))
			continue
		}
		m := &addedMethod{decl: f, base: named}
		name := fmt.Sprintf("%sʹ%sʹ%d", base, f.Name.Name, i)
		if params := a.typeParameters(base); named.TypeParams().Len() > 0 && params != nil {
			var err error
			if m.check, err = asGenericFunction(f, name, params); err != nil {
				a.file.Decls[i] = &ast.GenDecl{TokPos: d.Pos(), Tok: token.VAR}
				a.fail(f.Recv.Pos(), err.Error())
				continue
			}
		} else {
			m.check = asFunction(f, name)
		}
		a.methods = append(a.methods, m)
		a.file.Decls[i] = m.check
	}
}

func (a *attempt) fail(pos token.Pos, msg string) {
	a.errs = append(a.errs, &Error{Pos: cellPosition(a.fset, pos), Msg: msg, pos: pos})
}

// asFunction returns func name(r T, params) for func (r T) M(params), made of the same nodes.
func asFunction(f *ast.FuncDecl, name string) *ast.FuncDecl {
	params := &ast.FieldList{Opening: f.Type.Params.Opening, Closing: f.Type.Params.Closing}
	for _, field := range slices.Concat(f.Recv.List, f.Type.Params.List) {
		c := *field
		if len(c.Names) == 0 {
			c.Names = []*ast.Ident{{NamePos: c.Type.Pos(), Name: "_"}}
		}
		params.List = append(params.List, &c)
	}
	return &ast.FuncDecl{
		Name: &ast.Ident{NamePos: f.Name.NamePos, Name: name},
		Type: &ast.FuncType{Func: f.Type.Func, TypeParams: f.Type.TypeParams, Params: params, Results: f.Type.Results},
		Body: f.Body,
	}
}

// addMethods checks the signatures of the later methods and adds the methods to their types.
func (a *attempt) addMethods() {
	if len(a.methods) == 0 {
		return
	}
	a.fillScope()
	headers := &ast.File{Name: a.file.Name, Package: a.file.Package, FileStart: a.file.FileStart, FileEnd: a.file.FileEnd}
	for _, d := range a.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			headers.Decls = append(headers.Decls, d)
		}
	}
	aliases := a.earlyAliases()
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		headers.Decls = append(headers.Decls, &ast.GenDecl{TokPos: aliases[name].Pos(), Tok: token.TYPE, Specs: []ast.Spec{aliases[name]}})
	}
	for _, m := range a.methods {
		headers.Decls = append(headers.Decls, m.check)
		a.rejectOwnTypes(m, aliases)
	}
	if len(a.errs) > 0 {
		return
	}
	info := newInfo()
	var errs ErrorList
	config := types.Config{Importer: a.importer, IgnoreFuncBodies: true, Error: func(err error) {
		if e := (types.Error{}); errors.As(err, &e) && !isAllowed(e) {
			errs = append(errs, &Error{Pos: cellPosition(a.fset, e.Pos), Msg: e.Msg, pos: e.Pos})
		}
	}}
	_ = types.NewChecker(&config, a.fset, a.pkg, info).Files([]*ast.File{headers})
	if len(errs) > 0 {
		a.errs = append(a.errs, errs...)
		return
	}
	for _, m := range a.methods {
		f := info.Defs[m.check.Name].(*types.Func)
		a.add(m, f.Signature())
	}
	if bases := genericBases(a.methods); len(bases) > 0 {
		a.resetInstances(bases, a.info)
	}
}

// rejectOwnTypes reports types of the same cell in the signature of a later method: the method
// would have to exist before them.
func (a *attempt) rejectOwnTypes(m *addedMethod, aliases map[string]*ast.TypeSpec) {
	ast.Inspect(m.check.Type, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			n = s.X
		}
		if id, ok := n.(*ast.Ident); ok && a.declared[id.Name] && aliases[id.Name] == nil && id.Obj != nil && id.Obj.Kind == ast.Typ {
			a.fail(id.Pos(), fmt.Sprintf("the method %s of %s, a type of an earlier cell, mentions %s, which this cell declares: "+
				"declare %s in a cell before this one", m.decl.Name.Name, m.base.Obj().Name(), id.Name, id.Name))
			return false
		}
		return true
	})
}

func (a *attempt) add(m *addedMethod, f *types.Signature) {
	name := m.decl.Name
	if st, ok := m.base.Underlying().(*types.Struct); ok {
		for i := range st.NumFields() {
			if st.Field(i).Name() == name.Name {
				a.fail(name.Pos(), fmt.Sprintf("field and method with the same name %s", name.Name))
				return
			}
		}
	}
	switch m.base.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		a.fail(m.decl.Recv.Pos(), fmt.Sprintf("invalid receiver type %s (pointer or interface type)", m.base.Obj().Name()))
		return
	}
	signature := methodSignature(f)
	if !isReceiver(signature.Recv().Type(), m.base) {
		a.fail(m.decl.Recv.Pos(), fmt.Sprintf("invalid receiver type %s", signature.Recv().Type()))
		return
	}
	m.method = types.NewFunc(name.Pos(), a.pkg, name.Name, signature)
	list := methodsOf(m.base)
	m.before = *list
	after := slices.Clone(*list)
	for _, other := range a.methods {
		if other != m && other.method != nil && other.base == m.base && other.decl.Name.Name == name.Name {
			a.fail(name.Pos(), fmt.Sprintf("method %s.%s already declared at %s", m.base.Obj().Name(), name.Name, a.fset.Position(other.decl.Name.Pos())))
			return
		}
	}
	if i := slices.IndexFunc(after, func(f *types.Func) bool { return f.Name() == name.Name }); i >= 0 {
		m.old, after[i] = after[i], m.method
	} else {
		after = append(after, m.method)
	}
	*list = after
}

// isReceiver reports whether t is base, an instance of it, or a pointer to either.
func isReceiver(t types.Type, base *types.Named) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	return ok && named.Origin() == base
}

// methodsOf returns the method list of a type, an unexported field. The method AddMethod of
// go/types can neither replace nor remove a method. A test fails if the field changes.
func methodsOf(t *types.Named) *[]*types.Func {
	field := reflect.ValueOf(t).Elem().FieldByName("methods")
	return (*[]*types.Func)(unsafe.Pointer(field.UnsafeAddr()))
}

// removeMethods undoes addMethods.
func (c *Checker) removeMethods(methods []*addedMethod, info *types.Info) {
	for _, m := range slices.Backward(methods) {
		if m.method != nil {
			*methodsOf(m.base) = m.before
		}
	}
	if bases := genericBases(methods); len(bases) > 0 {
		c.resetInstances(bases, info)
	}
}

// restoreMethods puts the user's declarations back into the file, and makes the facts refer to
// the receiver and the parameters of the method instead of those of the function that was
// checked.
func (a *attempt) restoreMethods() {
	a.adoptParameters()
	same := map[types.Object]types.Object{}
	for _, m := range a.methods {
		f, ok := a.info.Defs[m.check.Name].(*types.Func)
		if !ok || m.method == nil || f.Signature().TypeParams().Len() > 0 {
			continue
		}
		sig := m.method.Signature()
		same[f.Signature().Params().At(0)] = sig.Recv()
		for i := range sig.Params().Len() {
			same[f.Signature().Params().At(i+1)] = sig.Params().At(i)
		}
		for i := range sig.Results().Len() {
			same[f.Signature().Results().At(i)] = sig.Results().At(i)
		}
	}
	for _, facts := range []map[*ast.Ident]types.Object{a.info.Defs, a.info.Uses} {
		for id, o := range facts {
			if other := same[o]; other != nil {
				facts[id] = other
			}
		}
	}
	index := map[ast.Decl]int{}
	for i, d := range a.file.Decls {
		index[d] = i
	}
	for _, m := range a.methods {
		a.file.Decls[index[m.check]] = m.decl
		if m.method != nil {
			a.info.Defs[m.decl.Name] = m.method
		}
		a.info.Scopes[m.decl.Type] = a.info.Scopes[m.check.Type]
	}
}
