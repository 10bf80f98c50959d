package check

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// A Sketch has the known facts about a cell that may be wrong or incomplete. Completion and
// inspection use it. It is valid until visit returns, and its maps must not be changed.
type Sketch struct {
	Source  string
	Fset    *token.FileSet
	File    *ast.File
	Body    *ast.FuncDecl // the statements
	Info    *types.Info
	Package *types.Package
	Live    map[string]types.Object // the names that earlier cells have defined
	Imports map[string]string       // package name to path, for imports of earlier cells
	// Methods are the methods that the cell defines on types of earlier cells. They are
	// not added to the types, because another cell may be running.
	Methods  map[*types.TypeName][]*types.Func
	checker  *Checker
	attempt  *attempt
	unit     *unit
	filename string
}

// sketchNumber is the number of the cell in positions of a sketch.
const sketchNumber = 0

// Sketch calls visit with the known facts about src. It closes what is open at the end of src. It does
// not call visit if not even a part of src can be parsed.
func (c *Checker) Sketch(src string, visit func(*Sketch)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := &unit{number: sketchNumber, src: closeOpen(src), plan: &plan{}, sketch: true}
	list, comments := scan(u.src)
	if _, msg := tooDeep(list); msg != "" {
		return
	}
	u.chunks, _ = splitList(u.src, list, comments, u.lines())
	u.values = u.endsInList()
	// The file has the part that could be parsed; the error is not needed.
	file, _ := parser.ParseFile(c.fset, "", u.text(), parser.AllErrors)
	u.token = lastFile(c.fset)
	defer c.fset.RemoveFile(u.token)
	if file == nil || len(file.Decls) == 0 {
		return
	}
	body, ok := file.Decls[len(file.Decls)-1].(*ast.FuncDecl)
	if !ok || body.Name.Name != bodyName || body.Body == nil {
		return
	}
	u.file, u.body = file, body
	a, methods := c.sketchAttempt(u)
	if a == nil {
		return
	}
	visit(&Sketch{
		Source: src, Fset: c.fset, File: file, Body: body, Info: a.info, Package: c.pkg,
		Live: c.live, Imports: c.imports, Methods: methods, checker: c, attempt: a, unit: u, filename: Filename(sketchNumber),
	})
}

// sketchAttempt returns nil if the syntax is so broken that the checks panic.
func (c *Checker) sketchAttempt(u *unit) (a *attempt, methods map[*types.TypeName][]*types.Func) {
	defer func() {
		if recover() != nil {
			a = nil
		}
	}()
	a = c.attempt(context.Background(), u)
	return a, a.sketchedMethods()
}

func (a *attempt) sketchedMethods() map[*types.TypeName][]*types.Func {
	all := map[*types.TypeName][]*types.Func{}
	for _, m := range a.methods {
		f, ok := a.info.Defs[m.check.Name].(*types.Func)
		if !ok || f.Signature().Params().Len() == 0 {
			continue
		}
		method := types.NewFunc(m.decl.Name.Pos(), a.pkg, m.decl.Name.Name, methodSignature(f.Signature()))
		all[m.base.Obj()] = append(all[m.base.Obj()], method)
	}
	return all
}

// MethodsOf returns the methods that the cell defines on t, or on the type that t points to.
func (s *Sketch) MethodsOf(t types.Type) []*types.Func {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return s.Methods[named.Obj()]
	}
	return nil
}

// Ident returns the identifier at an offset of the source, or nil.
func (s *Sketch) Ident(offset int) *ast.Ident {
	before := s.Source[:offset]
	line, column := 1+strings.Count(before, "\n"), offset-strings.LastIndexByte(before, '\n')
	var found *ast.Ident
	ast.Inspect(s.File, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found != nil || strings.Contains(id.Name, "ʹ") || !id.Pos().IsValid() {
			return found == nil
		}
		at := s.Fset.Position(id.Pos())
		if at.Filename == s.filename && at.Line == line && at.Column <= column && column <= at.Column+len(id.Name) {
			found = id
		}
		return true
	})
	return found
}

// Doc returns the comment above the declaration of an object, as it is in the sketch or else in an
// earlier cell. key is the object's name, or "T.M" for a method.
func (s *Sketch) Doc(o types.Object, key string) string {
	if c := s.chunk(o); c != nil {
		return plainComment(s.unit.src[c.doc:c.start])
	}
	if d := s.checker.declarations[key]; d != nil {
		return plainComment(d.doc)
	}
	return ""
}

// Text returns the text of the declaration of an object, as Doc does for its comment.
func (s *Sketch) Text(o types.Object, key string) string {
	if c := s.chunk(o); c != nil {
		return s.unit.src[c.start:c.end]
	}
	if d := s.checker.declarations[key]; d != nil {
		return d.text
	}
	return ""
}

// FieldDoc returns the comment of a field of the struct type o.
func (s *Sketch) FieldDoc(o types.Object, field string) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+s.Text(o, o.Name()), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	doc := ""
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != o.Name() {
			return true
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			return false
		}
		for _, f := range st.Fields.List {
			for _, name := range f.Names {
				if name.Name == field {
					doc = strings.TrimSpace(f.Doc.Text() + f.Comment.Text())
				}
			}
		}
		return false
	})
	return doc
}

// chunk returns the declaration of o in the sketch, or nil.
func (s *Sketch) chunk(o types.Object) *chunk {
	if !o.Pos().IsValid() {
		return nil
	}
	at := s.Fset.Position(o.Pos())
	if at.Filename != s.filename {
		return nil
	}
	for i := range s.unit.chunks {
		c := &s.unit.chunks[i]
		end := s.unit.position(c.end)
		after := at.Line > c.line || at.Line == c.line && at.Column >= c.column
		if after && (at.Line < end.Line || at.Line == end.Line && at.Column < end.Column) {
			return c
		}
	}
	return nil
}

// plainComment returns the text of comments without // and /*.
func plainComment(text string) string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		line = strings.TrimSuffix(strings.TrimPrefix(line, "/*"), "*/")
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "//")))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Find returns the object of a name that the cell does not declare locally.
func (s *Sketch) Find(name string) types.Object { return s.checker.lookup(name) }

// Import returns a package by its path.
func (s *Sketch) Import(path string) (*types.Package, error) { return s.checker.importer.Import(path) }

// PackageOf returns the package of an undeclared qualifier, or nil.
func (s *Sketch) PackageOf(name string) *types.Package {
	path := s.checker.findImport(name)
	if path == "" {
		return nil
	}
	p, err := s.checker.importer.Import(path)
	if err != nil {
		return nil
	}
	return p
}

// Similar returns the name that is possible in the place of an unknown one and differs least from
// it, or "".
func (s *Sketch) Similar(id *ast.Ident) string {
	name, candidates := s.attempt.nameAt(id.Pos())
	return closest(name, candidates)
}
