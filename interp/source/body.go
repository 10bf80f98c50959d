package source

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/origin"
)

// Type-checking the bodies of functions takes most of the time of an import, and cells call few of the functions of a large
// package. So a body is checked when code reaches the function.
//
// The order in which variables are initialized depends on the functions that their initializers reach. The bodies of all
// functions that may be among them, by their names, are checked with the package.

// bodies are the bodies of functions that are checked later.
type bodies map[*ast.FuncDecl]*ast.BlockStmt

// postpone takes the bodies that can be checked later out of files.
func postpone(files []*ast.File) bodies {
	list := bodies{}
	if strconv.IntSize != 64 { // types.CheckExpr assumes the sizes of amd64
		return list
	}
	initial := initial(files)
	for _, f := range files {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Body == nil || initial[d.Name.Name] || d.Name.Name == "_" || strings.HasPrefix(d.Name.Name, initPrefix) || isGeneric(d) || hasTypeLiteral(d.Type) {
				continue
			}
			list[d], d.Body = d.Body, nil
		}
	}
	return list
}

// restore puts the bodies back.
func (b bodies) restore() {
	for f, body := range b {
		f.Body = body
	}
}

// initial returns the names of all functions that initializers may reach.
func initial(files []*ast.File) map[string]bool {
	functions := map[string][]*ast.FuncDecl{}
	var queue []ast.Node
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				functions[d.Name.Name] = append(functions[d.Name.Name], d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						for _, x := range s.Values {
							queue = append(queue, x)
						}
					}
				}
			}
		}
	}
	names := map[string]bool{}
	for len(queue) > 0 {
		next := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		ast.Inspect(next, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || names[id.Name] || functions[id.Name] == nil {
				return true
			}
			names[id.Name] = true
			for _, f := range functions[id.Name] {
				if f.Body != nil {
					queue = append(queue, f.Body)
				}
			}
			return true
		})
	}
	return names
}

// isGeneric reports whether a function or the type of its receiver has type parameters.
func isGeneric(f *ast.FuncDecl) bool {
	generic := f.Type.TypeParams != nil
	if f.Recv != nil && !generic {
		_, generic = facts.ReceiverBase(f)
	}
	return generic
}

// hasTypeLiteral reports whether a type has a struct or interface type, each of which has other fields or methods when it is
// checked again.
func hasTypeLiteral(t *ast.FuncType) (found bool) {
	ast.Inspect(t, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.StructType, *ast.InterfaceType:
			found = true
		}
		return !found
	})
	return found
}

// checkBody type-checks the body of a function if that has not been done.
//
// go/types checks the bodies of function literals, so the function becomes one. The receiver is a parameter like others. What has
// no name is left out, apart from results. The scope of the variables is that of the literal, which the facts do not have.
func (p *loadedPackage) checkBody(fset *token.FileSet, f *ast.FuncDecl) error {
	if _, ok := p.bodies[f]; !ok {
		return nil
	}
	params := &ast.FieldList{}
	for _, list := range []*ast.FieldList{f.Recv, f.Type.Params} {
		if list != nil && len(list.List) > 0 && len(list.List[0].Names) > 0 {
			params.List = append(params.List, list.List...)
		}
	}
	var names []*ast.Ident
	for _, list := range []*ast.FieldList{params, f.Type.Results} {
		if list != nil {
			for _, field := range list.List {
				names = append(names, field.Names...)
			}
		}
	}
	declared := make([]types.Object, len(names))
	for i, id := range names {
		declared[i] = p.info.Defs[id]
	}
	literal := &ast.FuncLit{Type: &ast.FuncType{Func: f.Type.Func, Params: params, Results: f.Type.Results}, Body: f.Body}
	err := types.CheckExpr(fset, p.types, f.Type.Params.Opening, literal, p.info)
	delete(p.info.Types, ast.Expr(literal))
	delete(p.info.Types, ast.Expr(literal.Type))
	delete(p.info.Scopes, ast.Node(literal.Type))
	again := map[types.Object]types.Object{}
	for i, id := range names {
		again[p.info.Defs[id]], p.info.Defs[id] = declared[i], declared[i]
	}
	if err != nil {
		return errors.New(origin.Describe(err.Error()))
	}
	delete(p.bodies, f)
	if len(names) > 0 { // the body has to use the variables of the declaration
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := again[p.info.Uses[id]]; ok {
					p.info.Uses[id] = v
				}
			}
			return true
		})
	}
	omitDead(f.Body, p.info)
	return nil
}
