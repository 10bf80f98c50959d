package check

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// resolveImports adds an import for every qualifier that neither the cell nor the session
// declares: the import of an earlier cell, or the best package with that name. It renames an
// import of the cell that one of the cell's variables hides, for the statements before the
// variable.
func (a *attempt) resolveImports() {
	a.nameUnknownImports()
	a.dropRepeatedImports()
	for _, spec := range a.file.Imports {
		if name := a.importName(spec); a.hoisting.names[name] != nil {
			spec.Name = &ast.Ident{NamePos: spec.Pos(), Name: name + outerSuffix}
		}
	}
	a.importNames = map[string]bool{}
	for _, spec := range a.file.Imports {
		a.importNames[a.importName(spec)] = true
	}
	a.usePackages()
	wanted := a.selected()
	var specs []ast.Spec
	ast.Inspect(a.file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := s.X.(*ast.Ident)
		if !ok || !a.unresolved(id) || a.importNames[id.Name] || a.declared[id.Name] {
			return true
		}
		name, path := plainName(id.Name), a.hiddenPackages[id.Name]
		if path == "" && (a.lookup(name) == nil || a.isPackage(name, wanted[name])) {
			path = a.findImport(name, wanted[name]...)
			if a.isPackage(name, wanted[name]) && !slices.Contains(a.guess(name), path) {
				path = a.bestGuess(name, wanted[name])
			}
		}
		if path != "" {
			a.importNames[id.Name] = true
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

// selected maps each name without a declaration to the names that the cell selects from it.
func (a *attempt) selected() map[string][]string {
	members := map[string][]string{}
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && a.unresolved(id) {
				name := plainName(id.Name)
				members[name] = append(members[name], s.Sel.Name)
			}
		}
		return true
	})
	return members
}

// nameUnknownImports names a failed import after the qualifier that the cell seems to use for
// it. Then go/types accepts all uses of the name, and only reports the import. Without the
// package, its name can only be guessed from the path.
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

// dotUnknown reports whether a dot import of the cell failed. It might declare any exported
// name.
func (a *attempt) dotUnknown() bool {
	return slices.ContainsFunc(a.unknown, func(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "." })
}

// dropRepeatedImports removes duplicate imports of the cell.
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
	return id.Obj == nil || strings.HasSuffix(id.Name, outerSuffix) || strings.HasSuffix(id.Name, packageSuffix)
}

// importName returns the name that an import declares in its file, or "" if the import fails.
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

// findImport returns the path of the package that a qualifier refers to, or "". Among the
// packages with that name it prefers those that have all the members.
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
