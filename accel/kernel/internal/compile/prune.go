package compile

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
)

// prune removes from a file what a function does not need: declarations of names that nothing mentions, all variables, and the imports
// of packages that kernels cannot use. What uses them is an error at its line.
func (im *importer) prune(file *ast.File, function string) {
	mentioned := map[string]bool{function: true}
	kept := map[ast.Node]bool{}
	for more := true; more; {
		more = false
		for _, d := range file.Decls {
			for _, part := range parts(d) {
				if !kept[part] && slices.ContainsFunc(names(part), func(name string) bool { return mentioned[name] }) {
					kept[part], more = true, true
					ast.Inspect(part, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok {
							mentioned[id.Name] = true
						}
						return true
					})
				}
			}
		}
	}
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		switch {
		case !ok:
			return !kept[d]
		case g.Tok == token.CONST:
			return !kept[g]
		case g.Tok == token.TYPE:
			g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return !kept[s] })
		case g.Tok == token.IMPORT:
			g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return !im.usable(s.(*ast.ImportSpec), mentioned) })
		default:
			return true
		}
		return len(g.Specs) == 0
	})
}

// parts returns what of a declaration is kept or removed: a function, a group of constants, the types of a group.
func parts(d ast.Decl) (all []ast.Node) {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok == token.CONST {
		return []ast.Node{d}
	}
	if g.Tok == token.TYPE {
		for _, s := range g.Specs {
			all = append(all, s)
		}
	}
	return all
}

// names returns the names that a part declares.
func names(part ast.Node) (all []string) {
	switch part := part.(type) {
	case *ast.FuncDecl:
		all = append(all, part.Name.Name)
	case *ast.TypeSpec:
		all = append(all, part.Name.Name)
	case *ast.GenDecl:
		for _, s := range part.Specs {
			for _, id := range s.(*ast.ValueSpec).Names {
				all = append(all, id.Name)
			}
		}
	}
	return all
}

// usable reports whether a kernel can use an import, and does.
func (im *importer) usable(s *ast.ImportSpec, mentioned map[string]bool) bool {
	importPath, err := strconv.Unquote(s.Path.Value)
	name := path.Base(importPath)
	if s.Name != nil {
		name = s.Name.Name
	}
	return err == nil && im.packages[importPath] != nil && (mentioned[name] || name == ".")
}
