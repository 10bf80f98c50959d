package complete

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quernlab/quern/interp/check"
)

// An Item is one proposal.
type Item struct {
	Text string // what replaces the text from start to end
	Kind string // function, type, const, instance, module, keyword, field, label, magic or path
	Type string // Go type, signature or import path; may be empty
}

// cursor replaces the identifier at the offset while the cell is type-checked. Names of users
// never have the letter ʹ.
const cursor = "cursorʹ"

// At returns the proposals for the byte offset of src, which replace the text
// from start to end. paths are the import paths to choose from.
func At(c *check.Checker, paths []string, src string, offset int) (start, end int, items []Item) {
	offset = min(max(offset, 0), len(src))
	if literal, ok := importPath(src, offset); ok {
		return literal, offset, importPaths(paths, src[literal:offset])
	}
	if inText(src, offset) {
		return offset, offset, nil
	}
	start, end = word(src, offset)
	l := &list{prefix: src[start:offset], seen: map[string]bool{}, far: map[string]bool{}}
	if start > 0 && unicode.IsDigit(rune(src[start-1])) || l.prefix != "" && unicode.IsDigit(rune(l.prefix[0])) {
		return offset, offset, nil // inside of a number
	}
	full := src[:start] + cursor + src[end:]
	visited := false
	visit := func(s *check.Sketch) { visited = l.fill(s, paths) }
	c.Sketch(full, visit)
	if !visited {
		// Perhaps the parser fails on what follows.
		c.Sketch(src[:start]+cursor, visit)
	}
	if l.empty() || !l.member {
		// Errors elsewhere may hide what is defined.
		if text, ok := check.WithoutErrors(full, start); ok {
			c.Sketch(text, visit)
		}
	}
	if l.empty() && !l.checked {
		// There may be an operand even if the parser fails on the cell.
		if x, ok := operand(src, start); ok {
			c.Sketch(x+"."+cursor, visit)
		}
	}
	return start, end, l.best()
}

// most is the maximal number of proposals: more than anybody reads, and few enough to describe
// and send at once.
const most = 500

// list collects proposals that begin with a prefix.
type list struct {
	prefix  string
	items   []proposal
	seen    map[string]bool
	member  bool            // the cursor follows a dot
	checked bool            // the checker knows the operand before the dot
	far     map[string]bool // packages that nothing imports yet
}

// A proposal is an item whose kind and type are set only if it is among the best.
type proposal struct {
	Item
	object types.Object // has the kind and type of the item; nil if they are set
	pkg    *types.Package
	rank   int
}

func (l *list) empty() bool { return len(l.items) == 0 }

func (l *list) add(text, kind, typ string) { l.propose(proposal{Item: Item{text, kind, typ}}) }

func (l *list) object(s *check.Sketch, o types.Object) {
	l.propose(proposal{Item: Item{Text: o.Name()}, object: o, pkg: s.Package})
}

func (l *list) propose(p proposal) {
	if !hasPrefixFold(p.Text, l.prefix) || l.seen[p.Text] || p.Text == "_" || strings.Contains(p.Text, "ʹ") {
		return
	}
	// The keys of a struct literal come first, then names with the same case as the prefix;
	// packages that are not imported yet come after names that exist.
	if v, ok := p.object.(*types.Var); !l.member && !(ok && v.IsField()) {
		p.rank += 4
	}
	if !strings.HasPrefix(p.Text, l.prefix) {
		p.rank += 2
	}
	if l.far[p.Text] {
		p.rank++
	}
	l.seen[p.Text] = true
	if l.items = append(l.items, p); len(l.items) >= 2*most {
		l.cut()
	}
}

// cut sorts the proposals and keeps the best.
func (l *list) cut() {
	slices.SortStableFunc(l.items, func(a, b proposal) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Text, b.Text))
	})
	n := min(len(l.items), most)
	for _, p := range l.items[n:] {
		delete(l.seen, p.Text)
	}
	clear(l.items[n:])
	l.items = l.items[:n]
}

// best returns the best proposals with their kinds and types.
func (l *list) best() []Item {
	l.cut()
	items := make([]Item, len(l.items))
	for i, p := range l.items {
		if items[i] = p.Item; p.object != nil {
			items[i].Kind, items[i].Type = describe(p.pkg, p.object)
		}
	}
	return items
}

// hasPrefixFold is strings.HasPrefix, ignoring case.
func hasPrefixFold(text, prefix string) bool {
	for _, want := range prefix {
		r, size := utf8.DecodeRuneInString(text)
		if size == 0 || r != want && unicode.ToLower(r) != unicode.ToLower(want) {
			return false
		}
		text = text[size:]
	}
	return true
}

// describe returns the kind and the type of an object.
func describe(pkg *types.Package, o types.Object) (kind, typ string) {
	qualifier := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	switch o := o.(type) {
	case *types.Func:
		return "function", types.TypeString(o.Type(), qualifier)
	case *types.Builtin:
		return "function", ""
	case *types.TypeName:
		if types.Universe.Lookup(o.Name()) == o {
			return "type", ""
		}
		if _, ok := o.Type().Underlying().(*types.Struct); ok && o.Pkg() != pkg {
			return "type", "struct" // most of its fields are not accessible
		}
		return "type", types.TypeString(o.Type().Underlying(), qualifier)
	case *types.Const:
		return "const", types.TypeString(o.Type(), qualifier)
	case *types.PkgName:
		return "module", o.Imported().Path()
	case *types.Var:
		if o.IsField() {
			return "field", types.TypeString(o.Type(), qualifier)
		}
		if _, ok := o.Type().Underlying().(*types.Signature); ok {
			return "function", types.TypeString(o.Type(), qualifier)
		}
		return "instance", types.TypeString(o.Type(), qualifier)
	}
	return "instance", ""
}

// fill finds the cursor in the sketch and adds the proposals for it. It reports whether it found
// the cursor.
func (l *list) fill(s *check.Sketch, paths []string) bool {
	var stack, at []ast.Node
	ast.Inspect(s.File, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, cursor) && at == nil {
			at = slices.Clone(stack)
		}
		return true
	})
	if at == nil {
		return false
	}
	id := at[len(at)-1].(*ast.Ident)
	if len(at) > 1 {
		if sel, ok := at[len(at)-2].(*ast.SelectorExpr); ok && sel.Sel == id {
			l.member = true
			_, known := s.Info.Types[sel.X]
			l.checked = l.checked || known || isName(sel.X)
			l.members(s, sel.X)
			return true
		}
		if branch, ok := at[len(at)-2].(*ast.BranchStmt); ok {
			l.labels(branch, at)
			return true
		}
	}
	l.literalFields(s, at)
	l.names(s, id)
	for _, k := range keywords {
		l.add(k, "keyword", "")
	}
	for _, p := range paths {
		if name := packageName(p); !l.seen[name] {
			l.far[name] = true
			l.add(name, "module", p)
		}
	}
	return true
}

func isName(x ast.Expr) bool {
	_, ok := x.(*ast.Ident)
	return ok
}

// names adds what is visible at id: local variables, the names of the session, packages and
// predeclared names.
func (l *list) names(s *check.Sketch, id *ast.Ident) {
	scope := s.Package.Scope()
	for in := scope.Innermost(id.Pos()); in != nil; in = in.Parent() {
		for _, n := range in.Names() {
			o := in.Lookup(n)
			if local := in != scope && in != types.Universe; !local || !o.Pos().IsValid() || o.Pos() < id.Pos() {
				l.object(s, o)
			}
		}
	}
	for _, n := range scope.Names() {
		l.object(s, scope.Lookup(n))
	}
	for _, o := range s.Live {
		l.object(s, o)
	}
	for name, path := range s.Imports {
		l.add(name, "module", path)
	}
	for _, n := range types.Universe.Names() {
		l.object(s, types.Universe.Lookup(n))
	}
}

// literalFields adds the fields of the struct literal that the cursor is an
// element of.
func (l *list) literalFields(s *check.Sketch, at []ast.Node) {
	if len(at) < 2 {
		return
	}
	element := at[len(at)-1]
	i := len(at) - 2
	if pair, ok := at[i].(*ast.KeyValueExpr); ok && i > 0 {
		if pair.Key != element {
			return
		}
		i--
	}
	lit, ok := at[i].(*ast.CompositeLit)
	if !ok || lit.Type == element {
		return
	}
	t := literalType(s, at[:i+1])
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
			l.object(s, f)
		}
	}
}

// members adds what may follow x and a dot.
func (l *list) members(s *check.Sketch, x ast.Expr) {
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
					l.object(s, o)
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
	for _, m := range s.MethodsOf(t) {
		l.object(s, m)
	}
	methods := types.NewMethodSet(t)
	if _, pointer := t.Underlying().(*types.Pointer); !pointer && !types.IsInterface(t) && !tv.IsType() {
		methods = types.NewMethodSet(types.NewPointer(t))
	}
	for i := range methods.Len() {
		if o := methods.At(i).Obj(); o.Exported() || o.Pkg() == s.Package {
			l.object(s, o)
		}
	}
	if !tv.IsType() {
		l.fields(s, t, map[types.Type]bool{})
	}
}

// fields adds the fields of t, then the promoted ones.
func (l *list) fields(s *check.Sketch, t types.Type, seen map[types.Type]bool) {
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
			l.object(s, f)
		}
	}
	for i := range st.NumFields() {
		if f := st.Field(i); f.Embedded() {
			l.fields(s, f.Type(), seen)
		}
	}
}

// keywords are all keywords of Go.
var keywords = func() []string {
	var words []string
	for t := token.BREAK; t <= token.VAR; t++ {
		words = append(words, t.String())
	}
	return words
}()

// packageName returns the name that a package most likely has: the last element of
// its path that is not a version.
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
