package check

import (
	"context"
	"go/ast"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/origin"
)

// Packages returns the import paths of the packages of modules that declarations of cells mention, sorted.
func (c *Checker) Packages() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for path, declarations := range c.importers {
		for d := range declarations {
			if c.mentionsNow(d, path) {
				list = append(list, path)
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

func (c *Checker) mentionsNow(d *declaration, path string) bool {
	return d.packages[path] != nil && c.isLive(d)
}

// Recheck checks the declarations of cells again that mention packages of modules of which packages now imports another
// version, with the declarations that depend on them, as if a cell had redefined the packages. The result is a cell that
// consists of them, with the given number, or nil if there are none. As for Check, it must be committed or discarded.
func (c *Checker) Recheck(ctx context.Context, number int, packages types.Importer) (*Cell, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	current := map[string]*types.Package{}
	older := map[*declaration]bool{}
	for path, declarations := range c.importers {
		pkg, err := packages.Import(path)
		if err != nil {
			continue
		}
		current[path] = pkg
		for d := range declarations {
			if d.packages[path] != pkg && c.mentionsNow(d, path) {
				older[d] = true
			}
		}
	}
	if len(older) == 0 {
		return nil, nil
	}
	usual := c.importer
	c.importer = packages
	defer func() { c.importer = usual }()
	cell, err := c.recheck(ctx, number, older)
	if err != nil {
		return nil, err
	}
	cell.current = current
	return cell, nil
}

// modulesIn returns the packages of modules that a declaration mentions, by import path.
func modulesIn(decl ast.Node, info *types.Info) map[string]*types.Package {
	packages := map[string]*types.Package{}
	ast.Inspect(decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		var pkg *types.Package
		switch o := info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			pkg = o.Imported()
		default:
			if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() { // of a dot import, if it is not a name of the cells
				pkg = o.Pkg()
			}
		}
		if pkg != nil && origin.IsModule(pkg) {
			packages[origin.ImportPath(pkg)] = pkg
		}
		return true
	})
	return packages
}

// keepPackages adds to packages those of a declaration that does not compile with their current version.
func (cell *Cell) keepPackages(packages map[string]*types.Package, d *declaration) {
	for path, pkg := range d.packages {
		if now := cell.current[path]; now != nil {
			packages[path] = now
		} else if packages[path] == nil {
			packages[path] = pkg
		}
	}
}
