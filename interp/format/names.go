package format

import (
	"go/ast"
	"go/token"

	"github.com/quernlab/quern/interp/check"
)

// definedBy returns the names that a file defines at package level, or the statements of its one function.
func definedBy(file *ast.File, statements bool) []string {
	var names []string
	declaration := func(d ast.Decl) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names = append(names, name.Name)
					}
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	if !statements {
		for _, d := range file.Decls {
			declaration(d)
		}
		return names
	}
	for _, d := range file.Decls {
		for _, s := range d.(*ast.FuncDecl).Body.List {
			switch s := s.(type) {
			case *ast.DeclStmt:
				declaration(s.Decl)
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					continue
				}
				for _, e := range s.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

// Defined returns the names that the parts of a cell define, as far as they parse. Its commands must have been
// replaced.
func Defined(src string) []string {
	spans, _ := check.Spans(src)
	var names []string
	for _, r := range runsOf(spans, 0, len(src)) {
		for _, s := range r.spans {
			one := run{start: s.Start, end: s.End, spans: []check.Span{s}, statements: r.statements}
			if _, defined, err := one.format(src, src[s.Start:s.End]); err == nil {
				names = append(names, defined...)
			}
		}
	}
	return names
}
