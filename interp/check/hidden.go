package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Types that a variable hides.
//
//	type s struct{}
//	func newS() *s { return &s{} }
//	---
//	s := newS()
//
// After these cells s is the variable, but newS still refers to the type, as a function does in
// Go if main has a variable of that name. When newS is compiled again, its s is renamed to
// name+hiddenSuffix during the check. A cell that declares a type of that name again replaces
// the hidden one.

// hiddenSuffix marks the name of a hidden type during a check and in declaration.uses.
const hiddenSuffix = "ʹtype"

// hides reports whether o, which is not a type, redefines the name of the type old.
func hides(o, old types.Object) bool {
	_, wasType := old.(*types.TypeName)
	_, isType := o.(*types.TypeName)
	return wasType && !isType
}

// hide records that a cell hides the type t. Declarations that use the type keep using it.
func (c *Checker) hide(name string, t *types.TypeName) {
	c.hidden[name] = t
	for _, d := range c.declarations {
		if d.uses[name] && !c.wasBroken[d] {
			delete(d.uses, name)
			d.uses[name+hiddenSuffix] = true
			c.noteUses(d)
		}
	}
}

// renameHidden marks the names of hidden types in carried declarations.
func (a *attempt) renameHidden() {
	unresolved := map[*ast.Ident]bool{}
	for _, id := range a.file.Unresolved {
		unresolved[id] = true
	}
	for _, p := range a.pieces {
		if !p.carried {
			continue
		}
		names := map[string]bool{}
		for use := range p.declaration.uses {
			name, ok := strings.CutSuffix(use, hiddenSuffix)
			if ok && a.hidden[name] != nil && !a.declaresType(name) {
				names[name] = true
			}
		}
		ast.Inspect(p.node, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if ok && names[id.Name] && (unresolved[id] || id.Obj != nil && id.Obj == a.file.Scope.Lookup(id.Name)) {
				a.renamed = append(a.renamed, id)
				id.Name += hiddenSuffix
			}
			return true
		})
	}
}

func (a *attempt) declaresType(name string) bool {
	o := a.file.Scope.Lookup(name)
	return o != nil && o.Kind == ast.Typ
}

// insertHidden declares name+hiddenSuffix, which refers to the hidden type called name.
func (a *attempt) insertHidden(name string) {
	t := a.hidden[name]
	if t == nil || a.pkg.Scope().Lookup(name+hiddenSuffix) != nil {
		return
	}
	clone := alias(name+hiddenSuffix, t)
	a.pkg.Scope().Insert(clone)
	a.originals[clone] = t
}

// restoreHidden undoes renameHidden.
func (a *attempt) restoreHidden() {
	for _, id := range a.renamed {
		id.Name = strings.TrimSuffix(id.Name, hiddenSuffix)
		if o := a.originals[a.info.Uses[id]]; o != nil {
			a.info.Uses[id] = o
		}
	}
}

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
