package source

import (
	"go/ast"

	"github.com/quernlab/quern/interp/facts"
)

// A search finds out whether functions that are compiled at their first call may lead to a function that is missing. It knows
// only the names in their bodies, which have not been checked, so it may find one that no call reaches, but overlooks none: a
// method may be called if code that can have a value of its type selects its name.
type search struct {
	loader   *Loader
	packages map[*loadedPackage]*index
	imports  map[*ast.File]map[string][]*loadedPackage // by their names in the file
	seen     map[ast.Node]bool
	selected map[string]bool
	queue    []place
	found    bool
}

// A place is a declaration in a file of a package.
type place struct {
	of   *loadedPackage
	file *ast.File
	node ast.Node
}

// An index has the declarations of a package by name. A search has that of a package once code can have a value of one of its types.
type index struct {
	objects, methods, receivers map[string][]place
}

func newSearch(l *Loader) *search {
	return &search{loader: l, packages: map[*loadedPackage]*index{}, imports: map[*ast.File]map[string][]*loadedPackage{}, seen: map[ast.Node]bool{}, selected: map[string]bool{}}
}

// lacks reports whether the functions of parts that are compiled later may lead to one that is missing.
func (s *search) lacks(parts []*Part) bool {
	for _, part := range parts {
		if len(part.objects) > 0 {
			s.enter(part.of)
		}
		for _, f := range part.Later {
			s.object(part.of, f.Name.Name)
			s.selector(f.Name.Name)
		}
		for _, t := range part.Dispatched {
			s.object(part.of, t.Obj().Name())
		}
	}
	for len(s.queue) > 0 && !s.found {
		next := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.walk(next)
	}
	return s.found
}

// add adds declarations to those to be searched.
func (s *search) add(list []place) {
	for _, p := range list {
		if !s.seen[p.node] {
			s.seen[p.node] = true
			s.queue = append(s.queue, p)
		}
	}
}

// object adds the declarations of a name at package level.
func (s *search) object(p *loadedPackage, name string) {
	n := s.enter(p)
	if len(n.objects[name]) == 0 {
		return
	}
	if _, ok := p.missing[name]; ok {
		s.found = true
	}
	s.add(n.objects[name])
	// A value of the type may be in an interface. Missing functions that a method of another package reaches are found at its call.
	if len(p.missing) > 0 {
		s.add(n.receivers[name])
	}
}

// selector adds the methods of a name.
func (s *search) selector(name string) {
	if s.selected[name] {
		return
	}
	s.selected[name] = true
	for _, n := range s.packages {
		s.add(n.methods[name])
	}
}

// enter returns the names of a package. Code can have values of its types from now on.
func (s *search) enter(p *loadedPackage) *index {
	if n := s.packages[p]; n != nil {
		return n
	}
	n := &index{map[string][]place{}, map[string][]place{}, map[string][]place{}}
	s.packages[p] = n
	for _, file := range p.files {
		imports := map[string][]*loadedPackage{}
		s.imports[file] = imports
		for _, spec := range file.Imports {
			if name := p.info.PkgNameOf(spec); name != nil {
				if imported := s.loader.packages[name.Imported()]; imported != nil {
					imports[name.Name()] = append(imports[name.Name()], imported)
				}
			}
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				at := place{p, file, d}
				if d.Recv == nil {
					n.objects[d.Name.Name] = append(n.objects[d.Name.Name], at)
					continue
				}
				n.methods[d.Name.Name] = append(n.methods[d.Name.Name], at)
				base, _ := facts.ReceiverBase(d)
				n.receivers[base] = append(n.receivers[base], at)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						n.objects[spec.Name.Name] = append(n.objects[spec.Name.Name], place{p, file, spec})
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							n.objects[id.Name] = append(n.objects[id.Name], place{p, file, spec})
						}
					}
				}
			}
		}
	}
	for name := range s.selected {
		s.add(n.methods[name])
	}
	return n
}

// walk adds what a declaration mentions.
func (s *search) walk(at place) {
	ast.Inspect(at.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				for _, p := range s.imports[at.file][id.Name] {
					s.object(p, n.Sel.Name)
				}
			}
			s.selector(n.Sel.Name) // also if a variable has the name of the import
			s.walk(place{at.of, at.file, n.X})
			return false
		case *ast.Ident:
			s.object(at.of, n.Name)
			for _, p := range s.imports[at.file]["."] {
				s.object(p, n.Name)
			}
		}
		return !s.found
	})
}
