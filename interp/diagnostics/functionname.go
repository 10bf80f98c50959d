package diagnostics

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/vm"
)

// variadicSuffix ends the name of the function of the VM for a variadic one.
const variadicSuffix = "ʹm"

// Function returns where a function is declared and its name in compiled code, as runtime.FuncForPC returns
// them. The name of a function literal is the one that it has without inlining. ok is false if the name is
// not known.
func (t *Tracebacks) Function(f vm.FunctionID) (l Location, ok bool) {
	s := t.sources
	if f.Literal != 0 {
		at, known := t.positions.Position(f.Literal)
		if !known {
			return Location{}, false
		}
		name := s.literalName(at)
		return Location{name, at.Filename, at.Line}, name != ""
	}
	position, _ := t.positions.Position(f.Position)
	at, name := s.declared(f.Name, position)
	if name == "" {
		return Location{}, false
	}
	if f.MethodValue {
		name += "-fm"
	}
	return Location{name, at.Filename, at.Line}, true
}

// declared returns where the function with a name in lowered code, whose code has a position, is declared, and its name in compiled code.
func (s *Sources) declared(function string, position token.Position) (at token.Position, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	function = strings.TrimSuffix(function, variadicSuffix)
	if name := s.names[function]; name != "" {
		return s.functions[function], name
	}
	if l, ok := s.later[function]; ok {
		return l.fset.Position(l.function.Pos()), functionName(l.function)
	}
	e, _ := innermost(s.generics, position) // its instances have other names in lowered code
	return e.start, s.generics[position.Filename][e]
}

// literalName returns the name of the function literal that begins at a position, or "".
func (s *Sources) literalName(at token.Position) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e, name := range s.literals[at.Filename] {
		if e.start.Line == at.Line && e.start.Column == at.Column {
			return name
		}
	}
	return ""
}

// functionName returns the name of a declared function in compiled code: p.F, p.T.M, p.(*T).M, p.init.0; "" for blank ones.
func functionName(f *types.Func) string {
	if f.Pkg() == nil || f.Name() == "_" {
		return ""
	}
	sig := f.Signature()
	name := f.Name()
	if strings.HasPrefix(name, "initʹ") { // the last number counts the init functions from 1
		parts := strings.Split(name, "ʹ")
		number, _ := strconv.Atoi(parts[len(parts)-1])
		name = "init." + strconv.Itoa(number-1)
	}
	if sig.TypeParams().Len() > 0 {
		name += "[...]"
	}
	if recv := sig.Recv(); recv != nil {
		t, pointer := types.Unalias(recv.Type()), false
		if p, ok := t.(*types.Pointer); ok {
			t, pointer = types.Unalias(p.Elem()), true
		}
		n, ok := t.(*types.Named)
		if !ok {
			return ""
		}
		receiver := n.Obj().Name()
		if n.TypeParams().Len() > 0 {
			receiver += "[...]"
		}
		if pointer {
			receiver = "(*" + receiver + ")"
		}
		name = receiver + "." + name
	}
	return pathPrefix(origin.ImportPath(f.Pkg())) + "." + name
}

// pathPrefix returns an import path as the linker writes it: with the dots of the last element escaped.
func pathPrefix(path string) string {
	slash := strings.LastIndexByte(path, '/')
	return path[:slash+1] + strings.ReplaceAll(path[slash+1:], ".", "%2e")
}

// literalNames names the function literals of a function in the order of the source, as the compiler does.
type literalNames struct {
	sources *Sources
	fset    *token.FileSet
	prefix  string // "" if the names are not known
	number  int
}

// addInitializers names the function literals in the values of the variables of a cell or of a package. The compiler
// numbers them in the order of initialization, as literals of one function init. The caller holds the mutex of the
// sources.
func (s *Sources) addInitializers(cell *check.Cell) {
	values := &literalNames{sources: s, fset: cell.Fset, prefix: pathPrefix(origin.ImportPath(cell.Package)) + ".init.func"}
	order := cell.Init
	if cell.Part {
		order = cell.Order
	}
	for _, init := range order {
		values.add(init.Rhs)
	}
}

// add names the function literals in a node. The caller holds the mutex of the sources.
func (l *literalNames) add(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		literal, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		name := ""
		inner := &literalNames{sources: l.sources, fset: l.fset}
		if l.prefix != "" {
			l.number++
			name = l.prefix + strconv.Itoa(l.number)
			inner.prefix = name + "."
		}
		set(l.sources.literals, extentOf(l.fset, literal), name)
		inner.add(literal.Body)
		return false
	})
}
