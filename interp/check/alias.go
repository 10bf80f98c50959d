package check

import (
	"go/ast"
	"go/token"
)

// Methods that a cell declares through an alias, declared in the same cell, for a type of
// an earlier cell:
//
//	type N = Number
//	func (n *N) Double() N
//
// go/types looks for the declaration of Number, which is not in the file. So method.go adds
// these methods to Number afterwards.

// aliases returns the aliases that the cell declares, by name.
func (a *attempt) aliases() map[string]*ast.TypeSpec {
	specs := map[string]*ast.TypeSpec{}
	for _, d := range a.file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, s := range d.Specs {
				if s := s.(*ast.TypeSpec); s.Assign.IsValid() {
					specs[s.Name.Name] = s
				}
			}
		}
	}
	return specs
}

// aliased follows name through aliases of the cell to a type that the cell does not declare.
// It returns "" if there is none.
func (a *attempt) aliased(name string) string {
	specs := a.aliases()
	for a.declared[name] {
		s := specs[name]
		delete(specs, name) // a cycle ends here
		if s == nil || s.TypeParams != nil {
			return ""
		}
		t := ast.Unparen(s.Type)
		if star, ok := t.(*ast.StarExpr); ok {
			t = ast.Unparen(star.X)
		}
		id, ok := t.(*ast.Ident)
		if !ok {
			return ""
		}
		name = id.Name
	}
	return name
}

// earlyAliases returns the aliases of the cell that do not mention its types. They are
// checked together with the signatures of the methods that are added.
func (a *attempt) earlyAliases() map[string]*ast.TypeSpec {
	early := a.aliases()
	for again := true; again; {
		again = false
		for name, s := range early {
			ast.Inspect(s.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && a.declared[id.Name] && early[id.Name] == nil {
					delete(early, name)
					again = true
				}
				return true
			})
		}
	}
	return early
}
