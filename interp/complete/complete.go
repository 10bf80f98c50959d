package complete

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
)

// An Item is one completion.
type Item struct {
	Text string // replaces the text from start to end
	Kind string // function, type, const, instance, module, keyword, field, label, magic or path
	Type string // Go type, signature or import path; may be empty
	// Snippet is a call of a function in the syntax of snippets of the Language Server Protocol, with its parameters to fill in:
	// Join(${1:elems}, ${2:sep})$0. It is empty for what is not called here.
	Snippet string
}

// cursor stands for the identifier at the offset while the cell is type-checked. User code cannot contain
// the letter ʹ.
const cursor = "cursorʹ"

// InCell returns the completions at a byte offset of a cell, which may have commands. inString completes string literals.
func InCell(c *check.Checker, paths []string, src string, offset int, inString func(s String, prefix string) []Item) (start, end int, items []Item) {
	offset = min(max(offset, 0), len(src))
	if start, prefix, ok := magic.At(src, offset, c.Known); ok {
		return start, offset, named(magic.Names(prefix), "magic")
	}
	if start, names, ok := magic.PathAt(src, offset, c.Known); ok {
		return start, offset, named(names, "path")
	}
	if magic.InText(src, offset, c.Known) {
		return offset, offset, nil
	}
	if s, ok := StringAt(src, offset); ok {
		return s.Start, offset, inString(s, src[s.Start:offset])
	}
	start, end, items = At(c, paths, magic.Blank(src, c.Known), offset)
	if table := IndexAt(src, offset); table != "" && start == offset {
		var keys []Item
		for _, key := range inString(String{Table: table}, "") {
			key.Text = `"` + key.Text + `"`
			keys = append(keys, key)
		}
		items = append(keys, items...)
	}
	return start, end, items
}

// Files completes the name of a file in a string literal. A relative name is one in dir.
func Files(dir string, s String, prefix string) []Item {
	if !s.Argument && !strings.Contains(prefix, "/") {
		return nil
	}
	if dir != "" && !strings.HasPrefix(prefix, "/") && !strings.HasPrefix(prefix, "~") {
		dir += "/"
	} else {
		dir = ""
	}
	items := named(magic.Files(dir+prefix, false), "path")
	for i := range items {
		items[i].Text = strings.TrimPrefix(items[i].Text, dir)
	}
	return items
}

func named(names []string, kind string) (items []Item) {
	for _, name := range names {
		items = append(items, Item{Text: name, Kind: kind})
	}
	return items
}

// At returns the completions at a byte offset of src. They replace the text from start to end. paths are
// the import paths to choose from.
func At(c *check.Checker, paths []string, src string, offset int) (start, end int, items []Item) {
	offset = min(max(offset, 0), len(src))
	if literal, ok := importPath(src, offset); ok {
		return literal, offset, importPaths(paths, src[literal:offset])
	}
	if inText(src, offset) {
		return offset, offset, nil
	}
	start, end = word(src, offset)
	l := &list{prefix: src[start:offset], seen: map[string]bool{}, unimported: map[string]bool{}, called: strings.HasPrefix(src[end:], "(")}
	if start > 0 && unicode.IsDigit(rune(src[start-1])) || l.prefix != "" && unicode.IsDigit(rune(l.prefix[0])) {
		return offset, offset, nil // inside a number
	}
	full := src[:start] + cursor + src[end:]
	visited := false
	visit := func(s *check.Sketch) { visited = l.addAtCursor(s, paths) }
	c.Sketch(full, visit)
	if !visited {
		// The text after the cursor may be the reason why the cell does not parse.
		c.Sketch(src[:start]+cursor, visit)
	}
	if l.empty() || !l.member {
		// Errors elsewhere may hide declarations.
		if text, ok := check.WithoutErrors(full, start); ok {
			c.Sketch(text, visit)
		}
	}
	if l.empty() && !l.checked {
		// The operand may be valid even if the cell does not parse.
		if x, ok := operand(src, start); ok {
			c.Sketch(x+"."+cursor, visit)
		}
	}
	return start, end, l.bestItems()
}

// addAtCursor adds the proposals for the cursor in the sketch, and reports whether it found the cursor.
func (l *list) addAtCursor(s *check.Sketch, paths []string) bool {
	var stack, nodes []ast.Node
	ast.Inspect(s.File, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, cursor) && nodes == nil {
			nodes = slices.Clone(stack)
		}
		return true
	})
	if nodes == nil {
		return false
	}
	id := nodes[len(nodes)-1].(*ast.Ident)
	if len(nodes) > 1 {
		if sel, ok := nodes[len(nodes)-2].(*ast.SelectorExpr); ok && sel.Sel == id {
			l.member = true
			_, known := s.Info.Types[sel.X]
			l.checked = l.checked || known || isName(sel.X)
			l.expected = expected(s, nodes)
			l.addMembers(s, sel.X)
			return true
		}
		if branch, ok := nodes[len(nodes)-2].(*ast.BranchStmt); ok {
			l.addLabels(branch, nodes)
			return true
		}
	}
	l.expected = expected(s, nodes)
	for _, n := range nodes {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, name := range spec.Names {
				l.declared = append(l.declared, name.Name)
			}
		}
	}
	l.addLiteralFields(s, nodes)
	l.addNames(s, id)
	for _, k := range keywords {
		l.add(k, "keyword", "")
	}
	for _, p := range paths {
		if name := packageName(p); !l.seen[name] {
			l.unimported[name] = true
			l.add(name, "module", p)
		}
	}
	return true
}

func isName(x ast.Expr) bool {
	_, ok := x.(*ast.Ident)
	return ok
}

// addNames adds the names in scope at id: local variables, names of the session, packages and predeclared
// names.
func (l *list) addNames(s *check.Sketch, id *ast.Ident) {
	scope := s.Package.Scope()
	for in := scope.Innermost(id.Pos()); in != nil; in = in.Parent() {
		for _, n := range in.Names() {
			o := in.Lookup(n)
			if local := in != scope && in != types.Universe; !local || !o.Pos().IsValid() || o.Pos() < id.Pos() {
				l.addObject(s, o)
			}
		}
	}
	for _, n := range scope.Names() {
		l.addObject(s, scope.Lookup(n))
	}
	for _, o := range s.Live {
		l.addObject(s, o)
	}
	for name, path := range s.Imports {
		l.add(name, "module", path)
	}
	for _, n := range types.Universe.Names() {
		l.addObject(s, types.Universe.Lookup(n))
	}
}

// addLiteralFields adds the fields of the struct literal around the cursor.
func (l *list) addLiteralFields(s *check.Sketch, nodes []ast.Node) {
	if len(nodes) < 2 {
		return
	}
	element := nodes[len(nodes)-1]
	i := len(nodes) - 2
	if pair, ok := nodes[i].(*ast.KeyValueExpr); ok && i > 0 {
		if pair.Key != element {
			return
		}
		i--
	}
	lit, ok := nodes[i].(*ast.CompositeLit)
	if !ok || lit.Type == element {
		return
	}
	t := literalType(s, nodes[:i+1])
	if t == nil {
		return
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	used := map[string]bool{}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				used[key.Name] = true
			}
		}
	}
	for i := range st.NumFields() {
		if f := st.Field(i); !used[f.Name()] && (f.Exported() || f.Pkg() == s.Package) {
			l.addObject(s, f)
		}
	}
}

// addMembers adds the fields, methods or package members that may follow x and a dot.
func (l *list) addMembers(s *check.Sketch, x ast.Expr) {
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		var p *types.Package
		if name, ok := s.Info.Uses[id].(*types.PkgName); ok {
			p = name.Imported()
		} else if s.Info.Uses[id] == nil {
			p = s.PackageOf(id.Name)
		}
		if p != nil {
			for _, n := range p.Scope().Names() {
				if o := p.Scope().Lookup(n); o.Exported() {
					l.addObject(s, o)
				}
			}
			return
		}
	}
	tv, ok := s.Info.Types[x]
	if !ok || tv.Type == nil {
		return
	}
	t := tv.Type
	l.methods = tv.IsType()
	for _, m := range s.MethodsOf(t) {
		l.addObject(s, m)
	}
	methods := types.NewMethodSet(t)
	if _, pointer := t.Underlying().(*types.Pointer); !pointer && !types.IsInterface(t) && !tv.IsType() {
		methods = types.NewMethodSet(types.NewPointer(t))
	}
	for i := range methods.Len() {
		if o := methods.At(i).Obj(); o.Exported() || o.Pkg() == s.Package {
			l.addObject(s, o)
		}
	}
	if !tv.IsType() {
		l.addFields(s, t, map[types.Type]bool{})
	}
}

// addFields adds the fields of t, then the promoted fields.
func (l *list) addFields(s *check.Sketch, t types.Type, seen map[types.Type]bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return
	}
	seen[t] = true
	for i := range st.NumFields() {
		if f := st.Field(i); f.Exported() || f.Pkg() == s.Package {
			l.addObject(s, f)
		}
	}
	for i := range st.NumFields() {
		if f := st.Field(i); f.Embedded() {
			l.addFields(s, f.Type(), seen)
		}
	}
}

// keywords are the keywords of Go.
var keywords = func() []string {
	var words []string
	for t := token.BREAK; t <= token.VAR; t++ {
		words = append(words, t.String())
	}
	return words
}()

// packageName guesses the name of a package: the last element of its path that is not a version.
func packageName(p string) string {
	name := path.Base(p)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(p))
	}
	return name
}

// word returns the identifier around offset.
func word(src string, offset int) (start, end int) {
	start, end = offset, offset
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(src[:start])
		if !isLetter(r) {
			break
		}
		start -= size
	}
	for end < len(src) {
		r, size := utf8.DecodeRuneInString(src[end:])
		if !isLetter(r) {
			break
		}
		end += size
	}
	return start, end
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
