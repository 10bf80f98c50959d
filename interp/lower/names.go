package lower

// Names of lowered code. A definition of a cell gets the user's name and a
// number; the number grows with each redefinition, because yaegi binds the
// name in a function forever when it compiles the function:
//
//	func f() {}      ->  func fʹ1() {}
//	x := 1; x := ""  ->  var xʹ1 int; var xʹ2 string
//
// Functions are called by name and not through a variable, which would let a
// redefinition reach earlier callers but doubles the cost of a call (0.65 µs
// against 1.2 µs, measured). Package check gives callers of a redefined function
// to be lowered again.
//
// A local keeps its name, unless the function has another local of that name or
// Go predeclares it: yaegi's scopes mix such names up.
//
//	x := 1; { x := 2 }  ->  x := 1; { xʹl2 := 2 }
//	len := 3            ->  lenʹl1 := 3
//
// Everything else that is made up has a name with a ʹ, too.

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"
)

// fresh makes a name that no definition of the session has had.
func (p *Program) fresh(base string) string {
	p.counts[base]++
	return base + "ʹ" + strconv.Itoa(p.counts[base])
}

// freshOf makes a name for something that each cell has: bodyʹ3ʹ7 for cell 3. Cells
// share a counter, which does not grow with them.
func (e *emitter) freshOf(base, suffix string) string {
	e.counts[base]++
	return fmt.Sprintf("%sʹ%d%sʹ%d", base, e.cell.Number, suffix, e.counts[base])
}

// alias returns the name of a compiled package in lowered code.
func (e *emitter) alias(pkg *types.Package) string {
	return e.importAs(pkg.Path(), "pʹ"+mangle(pkg.Path()))
}

func (e *emitter) importAs(path, name string) string {
	if have, ok := e.aliases[path]; ok {
		return have
	}
	set(e.Program, e.aliases, path, name)
	e.imports = append(e.imports, "import "+name+" "+strconv.Quote(path))
	return name
}

// rt returns the call of a function of the compiled run time.
func (e *emitter) rt(function string, arguments ...string) string {
	return e.importAs("quern/rt", "rtʹ") + "." + function + "(" + strings.Join(arguments, ", ") + ")"
}

// descriptor returns the descriptor of a type. Lowered code has it from a package of the
// session and not by its number, so that it keeps what it needs and nothing else.
func (e *emitter) descriptor(t types.Type) string {
	name := "D" + strconv.Itoa(e.Registry.ID(t))
	e.symbol(name, reflect.ValueOf(e.Registry.Descriptor(t)))
	return e.importAs(TypesPath, compiledTypes) + "." + name
}

// symbol adds to Unit.Types.
func (e *emitter) symbol(name string, v reflect.Value) {
	if e.types == nil {
		e.types = map[string]reflect.Value{}
	}
	e.types[name] = v
}

// session returns the name of a symbol of the session.
func (e *emitter) session(symbol string) string {
	return e.importAs("quern/session", "sessionʹ") + "." + symbol
}

// mangle replaces what cannot be in an identifier.
func mangle(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == 'ʹ' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return 'ʹ'
	}, s)
}

// declare returns a local variable its name.
func (f *function) declare(o types.Object) string {
	name := o.Name()
	f.taken[name]++
	if n := f.taken[name]; n > 1 || types.Universe.Lookup(name) != nil {
		name += "ʹl" + strconv.Itoa(n)
	}
	f.locals[o] = name
	return name
}

// temp makes a name for a value that the user did not name.
func (f *function) temp() string {
	f.temps++
	return "ʹt" + strconv.Itoa(f.temps)
}
