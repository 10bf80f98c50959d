package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Variables that hide packages.
//
//	url, err := url.Parse("http://a")   the right url is the package
//	---
//	url, err := url.Parse("http://b")   and here too, although url is a variable now
//
// In the definition of a variable, the name on the right means what it meant when the cell ran for the first time. Otherwise a
// cell could run only once, or the second run would call a method of the first result. A name that means the package although
// there is a variable gets packageSuffix during the check. The same is true for functions of earlier cells that are compiled
// again: they keep using the package.

// packageSuffix marks a name that means a package. It is repeated if two packages of one name are meant.
const packageSuffix = "ʹpackage"

// plainName returns a name without the marks of a check.
func plainName(name string) string { return marks.Replace(name) }

var marks = strings.NewReplacer(outerSuffix, "", hiddenSuffix, "", packageSuffix, "")

// usePackages marks the names of the cell that mean packages which variables hide. It adds the packages to a.hiddenPackages.
func (a *attempt) usePackages() {
	for _, s := range a.hoisting.original {
		a.usePackagesIn(s, func(id *ast.Ident) bool { return strings.HasSuffix(id.Name, outerSuffix) })
	}
	for _, p := range a.pieces {
		if p.carried {
			a.keepQualifiers(p)
		} else {
			a.usePackagesInDeclaration(p.node)
		}
	}
	if a.sketch { // which has no pieces
		for _, d := range a.file.Decls {
			a.usePackagesInDeclaration(d)
		}
	}
}

func (a *attempt) usePackagesInDeclaration(d ast.Decl) {
	if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
		for _, s := range d.Specs {
			a.usePackagesIn(s, func(id *ast.Ident) bool { return id.Obj != nil && id.Obj.Decl == s })
		}
	}
}

// usePackagesIn marks the names in n for which before returns true, because they stand before the end of the definition of a
// variable, if they mean packages.
func (a *attempt) usePackagesIn(n ast.Node, before func(*ast.Ident) bool) {
	uses, members, values := map[string][]*ast.Ident{}, map[string][]string{}, map[string]bool{}
	defined := map[*ast.Ident]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, id := range n.Names {
				defined[id] = true
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && before(id) {
				name := plainName(id.Name)
				uses[name], members[name] = append(uses[name], id), append(members[name], n.Sel.Name)
				return false
			}
		case *ast.Ident:
			if before(n) && !defined[n] {
				values[plainName(n.Name)] = true
			}
		}
		return true
	})
	for name, list := range uses {
		if a.importNames[name] || a.importNames[name+outerSuffix] || values[name] {
			continue // imported by the cell, or not only a qualifier
		}
		path := a.findImport(name, members[name]...)
		if path != "" && a.meansPackage(name, path, members[name]) {
			for _, id := range list {
				a.mark(id, name, path)
			}
		}
	}
}

// meansPackage reports whether a name from which the definition of a variable of that name selects members means the package.
func (a *attempt) meansPackage(name, path string, members []string) bool {
	hidden := a.live[name]
	if hidden == nil && !a.declared[name] {
		return false // resolveImports finds the package
	}
	if a.sketch {
		return hidden == nil || a.fromPackage[name]
	}
	p, err := a.importer.Import(path)
	if err != nil {
		return false
	}
	only := hidden == nil
	for _, m := range members {
		if !token.IsExported(m) || p.Scope().Lookup(m) == nil {
			return false
		}
		if hidden != nil {
			o, _, _ := types.LookupFieldOrMethod(hidden.Type(), true, a.pkg, m)
			only = only || o == nil
		}
	}
	return only || a.fromPackage[name]
}

// mark makes an identifier mean the package with a path.
func (a *attempt) mark(id *ast.Ident, name, path string) {
	marked := name + packageSuffix
	for a.hiddenPackages[marked] != "" && a.hiddenPackages[marked] != path {
		marked += packageSuffix
	}
	set(&a.hiddenPackages, marked, path)
	id.Name = marked
	a.marked = append(a.marked, id)
}

// keepQualifiers marks the packages in a function of an earlier cell that a definition hides.
func (a *attempt) keepQualifiers(p piece) {
	for name, path := range p.declaration.qualifiers {
		if a.live[name] == nil && !a.declared[name] || a.importNames[name] {
			continue
		}
		ast.Inspect(p.node, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				id, ok := s.X.(*ast.Ident)
				if ok && id.Name == name && (id.Obj == nil || id.Obj == a.file.Scope.Lookup(name)) {
					a.mark(id, name, path)
				}
			}
			return true
		})
	}
}

// restorePackages undoes the marks.
func (a *attempt) restorePackages() {
	for _, id := range a.marked {
		id.Name = plainName(id.Name)
	}
}

// qualifiers returns the packages that a declaration uses, by name.
func qualifiers(n ast.Node, info *types.Info) map[string]string {
	var paths map[string]string
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if p, ok := info.Uses[id].(*types.PkgName); ok {
				set(&paths, id.Name, p.Imported().Path())
			}
		}
		return true
	})
	return paths
}

// definedFromPackage returns the names that the cell defines and that mean packages in it before the definition.
func (a *attempt) definedFromPackage() map[string]bool {
	names := map[string]bool{}
	for _, list := range [][]*ast.Ident{a.hoisting.outer, a.marked} {
		for _, id := range list {
			if _, ok := a.info.Uses[id].(*types.PkgName); ok && a.declared[id.Name] {
				names[id.Name] = true
			}
		}
	}
	return names
}

// noteHiddenPackages adds notes about members of variables that the user may have meant as members of the package of that name.
func (a *attempt) noteHiddenPackages() {
	called, seen := map[ast.Expr]bool{}, map[token.Pos]bool{}
	before := map[*ast.Ident]bool{} // names before the definition of the variable in this cell
	for _, id := range a.hoisting.outer {
		before[id] = true
	}
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[ast.Unparen(n.Fun)] = true
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && a.isOwn(n.Pos()) && !seen[n.Pos()] {
				seen[n.Pos()] = true
				a.noteHiddenPackage(n, id, called[n], a.declared[id.Name] && !before[id])
			}
		}
		return true
	})
}

// noteHiddenPackage notes that a member of a variable, which the cell has defined before if own is set, may be meant as one of a
// package.
func (a *attempt) noteHiddenPackage(s *ast.SelectorExpr, id *ast.Ident, called, own bool) {
	v, isVar := a.info.Uses[id].(*types.Var)
	if !isVar || v != a.live[id.Name] && v.Parent() != a.pkg.Scope() {
		return
	}
	selection := a.info.Selections[s]
	if selection == nil || own && (called || selection.Kind() != types.MethodVal) {
		return // a variable of the same cell is meant, unless a method is not called
	}
	path := a.memberOf(id.Name, s.Sel.Name)
	if path == "" {
		return
	}
	of := "an earlier cell"
	if own {
		of = "this cell"
	}
	at := a.fset.Position(s.Pos())
	msg := fmt.Sprintf("%s.%s belongs to the variable %s of %s, which hides package %q: %s", id.Name, s.Sel.Name, id.Name, of, path, otherName(id.Name, path))
	a.note(s.Pos(), msg, fmt.Sprintf("%d:%d: %s", at.Line, at.Column, msg))
}

// memberOf returns the path of the package of that name if it has a member, or "".
func (a *attempt) memberOf(name, member string) string {
	path := a.findImport(name, member)
	if p, err := a.importer.Import(path); path == "" || err != nil || !token.IsExported(member) || p.Scope().Lookup(member) == nil {
		return ""
	}
	return path
}

// otherName says how to reach a package that a definition hides.
func otherName(name, path string) string {
	return fmt.Sprintf("rename the variable, or import the package under another name, such as import %spkg %q", name, path)
}
