package check

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// resolveImports adds an import for every qualifier that nothing in the cell or
// the session declares: that of an earlier cell, or the package that best fits
// the name. An import of the cell that one of its own variables hides is
// renamed, for the statements before the variable.
func (a *attempt) resolveImports() {
	a.nameUnknownImports()
	a.dropRepeatedImports()
	for _, spec := range a.file.Imports {
		if name := a.importName(spec); a.hoisting.names[name] != nil {
			spec.Name = &ast.Ident{NamePos: spec.Pos(), Name: name + outerSuffix}
		}
	}
	a.own = map[string]bool{}
	for _, spec := range a.file.Imports {
		a.own[a.importName(spec)] = true
	}
	wanted := a.selected()
	var specs []ast.Spec
	ast.Inspect(a.file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := s.X.(*ast.Ident)
		if !ok || !a.unresolved(id) || a.own[id.Name] || a.declared[id.Name] {
			return true
		}
		name := strings.TrimSuffix(id.Name, outerSuffix)
		if a.lookup(name) != nil {
			return true
		}
		if path := a.findImport(name, wanted[name]...); path != "" {
			a.own[id.Name] = true
			specs = append(specs, &ast.ImportSpec{
				Name: &ast.Ident{Name: id.Name},
				Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)},
			})
		}
		return true
	})
	if specs != nil {
		for _, s := range specs {
			a.file.Imports = append(a.file.Imports, s.(*ast.ImportSpec))
		}
		a.file.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Lparen: 1, Specs: specs}}, a.file.Decls...)
	}
}

// selected lists what the cell selects from each name that the parser found no
// declaration for.
func (a *attempt) selected() map[string][]string {
	members := map[string][]string{}
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && a.unresolved(id) {
				name := strings.TrimSuffix(id.Name, outerSuffix)
				members[name] = append(members[name], s.Sel.Name)
			}
		}
		return true
	})
	return members
}

// nameUnknownImports gives an import that fails the name that the cell seems to use it by: go/types then takes any use of
// it, and reports the import alone. Without the package its name can only be guessed from the path.
func (a *attempt) nameUnknownImports() {
	var wanted map[string][]string
	for _, spec := range a.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || path == "" {
			continue
		}
		if _, err := a.importer.Import(path); err == nil {
			continue
		}
		a.unknown = append(a.unknown, spec)
		if spec.Name != nil {
			continue
		}
		if wanted == nil {
			wanted = a.selected()
		}
		best := -1
		for name := range wanted {
			at := strings.LastIndex(path, name)
			if at > best || at == best && at >= 0 && len(name) > len(spec.Name.Name) {
				best, spec.Name = at, &ast.Ident{NamePos: spec.Pos(), Name: name}
			}
		}
	}
}

// dotUnknown reports whether a dot import of the cell fails, which may declare any exported name.
func (a *attempt) dotUnknown() bool {
	return slices.ContainsFunc(a.unknown, func(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "." })
}

// dropRepeatedImports removes imports that say what another one of the cell says.
func (a *attempt) dropRepeatedImports() {
	seen := map[string]bool{}
	a.file.Imports = nil
	for _, d := range a.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		var kept []ast.Spec
		for _, s := range g.Specs {
			spec := s.(*ast.ImportSpec)
			if key := a.importName(spec) + " " + spec.Path.Value; !seen[key] {
				seen[key] = true
				kept = append(kept, spec)
				a.file.Imports = append(a.file.Imports, spec)
			}
		}
		g.Specs = kept
	}
}

// unresolved reports whether the parser found no declaration for id.
func (a *attempt) unresolved(id *ast.Ident) bool {
	return id.Obj == nil || strings.HasSuffix(id.Name, outerSuffix)
}

// importName returns the name that an import declares in its file, "" when the
// package cannot be imported.
func (c *Checker) importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	p, err := c.importer.Import(path)
	if err != nil {
		return ""
	}
	return p.Name()
}

// findImport returns the path of the package that a qualifier means, or "": of those with
// the name the best that has all the members, or else the best.
func (c *Checker) findImport(name string, members ...string) string {
	if path := c.imports[name]; path != "" {
		return path
	}
	first := ""
	for _, path := range c.guess(name) {
		p, err := c.importer.Import(path)
		if err != nil || p.Name() != name {
			continue
		}
		if !slices.ContainsFunc(members, func(m string) bool { return p.Scope().Lookup(m) == nil }) {
			return path
		}
		if first == "" {
			first = path
		}
	}
	return first
}
