package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// misspelled returns "; did you mean Println?" for an error about an undeclared name if a similar
// name is possible in its place. It may return another hint, or "".
func (a *attempt) misspelled(e types.Error) string {
	if path, ok := strings.CutPrefix(e.Msg, "could not import "); ok && !strings.Contains(path, "did you mean") {
		path, _, _ = strings.Cut(path, " ")
		if hint := counterparts[path]; hint != "" {
			return "; " + hint + noImport
		}
		return a.misspelledImport(path)
	}
	if !strings.HasPrefix(e.Msg, "undefined: ") && !strings.Contains(e.Msg, " undefined (type ") || strings.Contains(e.Msg, ", but does have ") {
		return ""
	}
	if strings.Contains(e.Msg, "(but have ") {
		return ""
	}
	if hint := memberHints[strings.TrimPrefix(e.Msg, "undefined: ")]; hint != "" {
		return "; " + hint
	}
	name, candidates := a.nameAt(e.Pos)
	if strings.HasPrefix(e.Msg, "undefined: ") && !strings.Contains(e.Msg, ".") && !a.isAssigned(e.Pos) {
		if hint := a.typeFirst(e.Pos, name); hint != "" {
			return "; " + hint
		}
		if hint := a.foreignName(e.Pos, name); hint != "" {
			return "; " + hint
		}
	}
	if hint := a.packageHint(e.Pos, name); hint != "" {
		return hint
	}
	if experiment := experimentOf[name]; experiment != "" && a.isQualifier(e.Pos) {
		return "; its package needs GOEXPERIMENT=" + experiment + ", an experiment of Go that this program was built without"
	}
	if name == "constraints" && a.isQualifier(e.Pos) {
		return "; cmp.Ordered is in package cmp, and %get golang.org/x/exp/constraints has the others"
	}
	if best := closest(name, candidates); best != "" {
		return "; did you mean " + best + "?"
	}
	if a.isAssigned(e.Pos) {
		return fmt.Sprintf("; %s := value defines it", name)
	}
	if hint := keywordHints[name]; hint != "" && !strings.Contains(e.Msg, ".") {
		return "; " + hint
	}
	if keyword := misspelledKeyword(name); keyword != "" && !strings.Contains(e.Msg, ".") && a.standsAlone(e.Pos) {
		return "; did you mean " + keyword + "?"
	}
	if a.isQualifier(e.Pos) {
		return "; only packages of the standard library and of Quern are imported automatically"
	}
	return ""
}

// experimentOf are the experiments of Go that add packages to the standard library, by the names of the packages.
var experimentOf = map[string]string{"arena": "arenas", "jsontext": "jsonv2", "archsimd": "simd", "simd": "simd"}

// usual are packages whose functions are often called without the name of the package, best first.
var usual = []string{"fmt", "strings", "strconv", "math", "errors", "time", "os", "slices", "maps", "sort"}

// packageHint returns a hint about an undeclared name that is that of a package, or of a function of one of the usual packages
// that is called without the name of the package; "" for others.
func (a *attempt) packageHint(pos token.Pos, name string) string {
	call, qualifier := false, false
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			call = call || ok && id.Pos() == pos && id.Name != showName
		case *ast.SelectorExpr:
			qualifier = qualifier || n.X.Pos() == pos || n.Sel.Pos() == pos
		}
		return true
	})
	if qualifier {
		return ""
	}
	if call {
		for _, path := range usual {
			p, err := a.importer.Import(path)
			if err != nil {
				continue
			}
			for _, member := range p.Scope().Names() {
				if _, ok := p.Scope().Lookup(member).(*types.Func); ok && token.IsExported(member) && strings.EqualFold(member, name) {
					return fmt.Sprintf("; %s.%s is in package %[1]s", p.Name(), member)
				}
			}
		}
		return ""
	}
	if path := a.findImport(name); path != "" {
		return fmt.Sprintf("; %s is a package: a dot and a name follow it", name)
	}
	return ""
}

// standsAlone reports whether the name at a position is a statement of its own.
func (a *attempt) standsAlone(pos token.Pos) (found bool) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.ExprStmt); ok {
			id, ok := s.X.(*ast.Ident)
			found = found || ok && id.Pos() == pos
		}
		return !found
	})
	return found
}

// isQualifier reports whether the name at a position is followed by a dot and an exported name, as that of a package.
func (a *attempt) isQualifier(pos token.Pos) (found bool) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.IsExported() {
			id, ok := s.X.(*ast.Ident)
			found = found || ok && id.Pos() == pos
		}
		return !found
	})
	return found
}

// nameHints are hints about names that other languages predeclare.
var nameHints = map[string]string{
	"None": "it is nil in Go", "null": "it is nil in Go", "NULL": "it is nil in Go", "nullptr": "it is nil in Go",
	"this": "a method declares the name of its receiver: func (t T) Method()", "self": "a method declares the name of its receiver: func (t T) Method()",
	"help": "name? shows the documentation of a name", "dir": "name? shows the documentation of a name",
	"exit": "os.Exit ends a program; the menu of the notebook stops the kernel", "quit": "os.Exit ends a program; the menu of the notebook stops the kernel",
	"ls": "a shell command begins with !", "pwd": "a shell command begins with !",
	"System": "fmt.Println(x) prints", "console": "fmt.Println(x) prints", "Console": "fmt.Println(x) prints", "cout": "fmt.Println(x) prints", "std": "fmt.Println(x) prints",
	"pass": "an empty block is written { }", "undefined": "it is nil in Go",
}

// memberHints are hints about names of PyTorch and Python that no name of the package resembles.
var memberHints = map[string]string{
	"strings.upper": "did you mean ToUpper?", "strings.lower": "did you mean ToLower?", "strings.strip": "did you mean TrimSpace?", "strings.trim": "did you mean TrimSpace?",
	"strings.startswith": "did you mean HasPrefix?", "strings.startsWith": "did you mean HasPrefix?", "strings.endswith": "did you mean HasSuffix?",
	"strings.endsWith": "did you mean HasSuffix?", "strings.find": "did you mean Index?", "strings.len": "len(s) is the length",
	"strings.format": "fmt.Sprintf formats values", "os.getcwd": "did you mean Getwd?", "os.listdir": "did you mean ReadDir?", "os.path": "package filepath has paths",
	"json.dumps": "did you mean Marshal?", "json.loads": "did you mean Unmarshal?", "rand.randint": "did you mean IntN?", "rand.random": "did you mean Float64?", "rand.choice": "list[rand.IntN(len(list))] is a random element",
	"nn.Linear": "use nn.Dense(10) for 10 outputs: the number of inputs is that of the first batch",
}

// isAssigned reports whether the name at a position is assigned to by =.
func (a *attempt) isAssigned(pos token.Pos) (found bool) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.AssignStmt); ok && s.Tok == token.ASSIGN {
			for _, e := range s.Lhs {
				id, ok := e.(*ast.Ident)
				found = found || ok && id.Pos() == pos
			}
		}
		return !found
	})
	return found
}

// misspelledImport returns "; did you mean "fmt"?" for the path of a failed import, or "" if no
// package has a similar name or the path is that of a module.
func (a *attempt) misspelledImport(path string) string {
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return ""
	}
	name := closest(path[strings.LastIndexByte(path, '/')+1:], slices.Values(a.packages()))
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", a.findImport(name))
}

// nameAt returns the name at a position and the names that are possible there.
func (a *attempt) nameAt(pos token.Pos) (name string, candidates iter.Seq[string]) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Pos() == pos {
				name, candidates = n.Sel.Name, slices.Values(a.membersOf(n.X))
			} else if x, ok := n.X.(*ast.Ident); ok && x.Pos() == pos {
				name, candidates = x.Name, a.namesAt(pos, true)
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Pos() == pos {
				name, candidates = id.Name, a.typesAt(pos)
			}
		case *ast.Field:
			if id, ok := n.Type.(*ast.Ident); ok && id.Pos() == pos {
				name, candidates = id.Name, a.typesAt(pos)
			}
		case *ast.ValueSpec:
			if id, ok := n.Type.(*ast.Ident); ok && id.Pos() == pos {
				name, candidates = id.Name, a.typesAt(pos)
			}
		case *ast.Ident:
			if n.Pos() == pos && n.Name != showName {
				name, candidates = n.Name, a.namesAt(pos, false)
			}
		}
		return name == ""
	})
	return name, candidates
}

// membersOf returns the names that may follow x and a dot.
func (a *attempt) membersOf(x ast.Expr) (names []string) {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := a.info.Uses[id].(*types.PkgName); ok {
			for _, name := range p.Imported().Scope().Names() {
				if token.IsExported(name) {
					names = append(names, name)
				}
			}
			return names
		}
	}
	t := a.info.Types[x].Type
	if t == nil {
		return nil
	}
	if _, pointer := t.Underlying().(*types.Pointer); !pointer && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	methods := types.NewMethodSet(t)
	for i := range methods.Len() {
		names = append(names, methods.At(i).Obj().Name())
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() || f.Pkg() == a.pkg {
				names = append(names, f.Name())
			}
		}
	}
	return names
}

// namesAt returns the names that are visible at a position: those of the session, of the cell and
// of the enclosing functions and, if packages is true, those of packages.
func (a *attempt) namesAt(pos token.Pos, packages bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range types.Universe.Names() {
			if !yield(name) {
				return
			}
		}
		for name := range a.live {
			if !yield(name) {
				return
			}
		}
		for name := range a.declared {
			if !yield(name) {
				return
			}
		}
		for _, object := range a.info.Defs {
			if object == nil || object.Parent() == nil || object.Parent() == a.pkg.Scope() || object.Pos() >= pos || !object.Parent().Contains(pos) {
				continue
			}
			if !yield(object.Name()) {
				return
			}
		}
		if packages {
			for _, name := range a.packages() {
				if !yield(name) {
					return
				}
			}
		}
	}
}

// typesAt returns those of the names that are visible at a position that may be types.
func (a *attempt) typesAt(pos token.Pos) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range a.namesAt(pos, false) {
			o := a.live[name]
			if a.declared[name] {
				o = a.pkg.Scope().Lookup(name)
			} else if o == nil {
				o = types.Universe.Lookup(name)
			}
			if _, isType := o.(*types.TypeName); (isType || o == nil) && !yield(name) {
				return
			}
		}
	}
}

// closest returns the candidate that differs least from a name, and the longest if there are
// several, or "" if none is similar. Names of one or two letters have no candidates.
func closest(name string, candidates iter.Seq[string]) (best string) {
	const shortest = 3
	if len(name) < shortest || candidates == nil {
		return ""
	}
	limit := 1
	if len(name) > 4 {
		limit = 2
	}
	least := limit + 1
	lower, length := strings.ToLower(name), utf8.RuneCountInString(name)
	for c := range candidates {
		// Most candidates differ too much in length already.
		if n := utf8.RuneCountInString(c); n < length-limit || n > length+limit || len(c) < shortest || c == name || strings.Contains(c, "ʹ") {
			continue
		}
		d := distance(lower, strings.ToLower(c))
		if d == 2 && length < 7 && lower[0] != strings.ToLower(c)[0] {
			continue // list is far from first
		}
		if d < least || d == least && d <= limit && (len(c) > len(best) || len(c) == len(best) && c < best) {
			best, least = c, d
		}
	}
	return best
}

// distance returns the number of letters that differ. Two swapped letters count as one.
func distance(a, b string) int {
	d := levenshtein.ComputeDistance(a, b)
	if d == 2 && len(a) == len(b) {
		i := 0
		for a[i] == b[i] {
			i++
		}
		if i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
			return 1
		}
	}
	return d
}
