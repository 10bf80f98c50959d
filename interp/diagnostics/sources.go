package diagnostics

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/quernlab/quern/internal/secret"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/generic"
)

// Sources has the text of cells, and the positions of their functions and function literals.
// Its methods may be called from any goroutine.
type Sources struct {
	mu        sync.Mutex
	texts     map[int]string               // by cell number
	order     []int                        // the cell numbers of texts, in the order in which they were set
	literals  map[string]map[extent]string // by file name: the names that Go gives function literals, "" if unknown
	functions map[string]token.Position    // where functions are declared, by their name in lowered code
	names     map[string]string            // the names that Go gives these functions
	generics  map[string]map[extent]string // by file name: the names that Go gives generic functions, "" if unknown
	later     map[string]laterFunction     // functions that are compiled at their first call, by their name in lowered code
	closures  map[string]string            // by variable, in lowered code: the file name of the last cell with a function literal that set it
}

// NewSources returns an empty Sources.
func NewSources() *Sources {
	return &Sources{texts: map[int]string{}, literals: map[string]map[extent]string{}, functions: map[string]token.Position{}, names: map[string]string{}, generics: map[string]map[extent]string{}, later: map[string]laterFunction{}, closures: map[string]string{}}
}

// SetText sets the text of a cell.
func (s *Sources) SetText(cell int, src string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.texts[cell]; ok {
		s.order = slices.DeleteFunc(s.order, func(c int) bool { return c == cell })
	}
	s.order = append(s.order, cell)
	s.texts[cell] = src
}

// Line returns the line of source that a position is in, without passwords of addresses, since what is shown of it may
// end up in a log. ok is false if the line is unknown or blank.
func (s *Sources) Line(p token.Position) (line string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number, ok := check.FileNumber(p.Filename)
	if !ok {
		return "", false
	}
	rest := s.texts[number]
	for n := 0; n < p.Line; n++ {
		if n > 0 && rest == "" {
			return "", false
		}
		line, rest, _ = strings.Cut(rest, "\n")
	}
	line = strings.TrimRight(line, "\r")
	return secret.Source(line), strings.TrimSpace(line) != ""
}

// AddCell notes where a cell declares functions and where it has function literals. name
// returns the name of a function in lowered code, or "".
func (s *Sources) AddCell(cell *check.Cell, name func(types.Object) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !cell.Part {
		delete(s.literals, Filename(cell.Number)) // of an earlier cell with this number
		delete(s.generics, Filename(cell.Number))
	}
	body := &literalNames{sources: s, fset: cell.Fset, prefix: "main.main.func"}
	for _, statement := range cell.Body {
		body.add(statement)
	}
	s.addInitializers(cell)
	if file := Filename(cell.Number); len(s.literals[file]) > 0 {
		for v := range assigned(cell) {
			if name := name(v); name != "" {
				s.closures[name] = file
			}
		}
	}
	for _, f := range cell.Funcs {
		o, ok := cell.Info.Defs[f.Name].(*types.Func)
		goName := ""
		if ok {
			goName = functionName(o)
		}
		literals := &literalNames{sources: s, fset: cell.Fset}
		if goName != "" {
			literals.prefix = goName + ".func"
		}
		literals.add(f)
		if !ok {
			continue
		}
		if sig := o.Signature(); sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0 {
			set(s.generics, extentOf(cell.Fset, f), goName)
		}
		if name := name(o); name != "" {
			s.functions[name] = cell.Fset.Position(f.Name.Pos())
			s.names[name] = goName
			delete(s.later, name)
		}
	}
	for _, f := range cell.Later {
		if o, ok := cell.Info.Defs[f.Name].(*types.Func); ok {
			s.later[name(o)] = laterFunction{o, cell.Fset}
		}
	}
}

// A laterFunction is a function that is compiled at its first call. A module may have many, and most are never called.
type laterFunction struct {
	function *types.Func
	fset     *token.FileSet
}

// inLiteral reports whether a position is in a function literal of its cell.
func (s *Sources) inLiteral(at token.Position) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := innermost(s.literals, at)
	return ok
}

// nameAt returns the name that Go gives the function with a name in lowered code that runs at a position, which is in a function
// literal of it or not; "" if it is not known.
func (s *Sources) nameAt(function string, literal bool, at token.Position) (name string) {
	if literal {
		s.mu.Lock()
		e, _ := innermost(s.literals, at)
		name = s.literals[at.Filename][e]
		s.mu.Unlock()
	}
	if name == "" {
		_, name = s.declared(function, at)
	}
	return name
}

// declaration returns where the function with a name in lowered code is declared.
func (s *Sources) declaration(function string) (at token.Position, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok = s.functions[function]
	return at, ok
}

// userName returns the name of a function as the user wrote it, "" for one that lowering
// made: fʹ2 is f, TʹMʹ1 is T.M; of instances of generic functions, Mapʹintʹ1 is Map, and
// Stackʹintʹ1ʹPushʹ1 is Stack.Push.
func (s *Sources) userName(function string) string {
	name, literal, _ := strings.Cut(function, ".")
	parts := strings.Split(name, "ʹ")
	if n := len(parts); n > 1 {
		parts = parts[:n-1]
	}
	_, declared := s.declaration(name)
	switch {
	case parts[0] == "" || parts[0] == "body" || parts[0] == "register":
		return ""
	case declared:
		name = strings.Join(parts, ".")
	default:
		name = parts[0]
		if _, ok := generic.Source(name); ok && len(parts) > 1 {
			name += "." + parts[1]
			parts = parts[1:]
		}
		if i := slices.IndexFunc(parts, isNumber); i >= 0 && i+1 < len(parts) {
			name += "." + parts[i+1]
		}
	}
	if literal != "" {
		name = "a function literal of " + name
	}
	return name
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// extent is a part of a cell.
type extent struct{ start, end token.Position }

// contains reports whether a position is in the extent. The start of a function literal is not: it is the position of a call of it.
func (e extent) contains(p token.Position) bool {
	return p.Filename == e.start.Filename && before(e.start, p) && before(p, e.end)
}

// extentOf returns the extent of a node.
func extentOf(fset *token.FileSet, n ast.Node) extent {
	return extent{fset.Position(n.Pos()), fset.Position(n.End())}
}

// set sets the name of an extent.
func set(names map[string]map[extent]string, e extent, name string) {
	known := names[e.start.Filename]
	if known == nil {
		known = map[extent]string{}
		names[e.start.Filename] = known
	}
	known[e] = name
}

// innermost returns the smallest extent with a name that a position is in.
func innermost(names map[string]map[extent]string, at token.Position) (found extent, ok bool) {
	for e := range names[at.Filename] {
		if e.contains(at) && (!ok || before(found.start, e.start)) {
			found, ok = e, true
		}
	}
	return found, ok
}

func before(p, q token.Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}
