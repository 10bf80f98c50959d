package lower

// Names of lowered code. A definition of a cell gets the user's name and a number. The number increases with
// each redefinition, because yaegi resolves the names in a function when it compiles the function:
//
//	func f() {}      ->  func fʹ1() {}
//	x := 1; x := ""  ->  var xʹ1 int; var xʹ2 string
//
// Functions are called by name and not through a variable. A variable would let a redefinition reach earlier
// callers, but doubles the cost of a call (0.65 µs and 1.2 µs, measured). Package check returns the callers of
// a redefined function, to be lowered again.
//
// A local variable keeps its name, unless the function has another local variable of that name or the name is
// predeclared: yaegi's scopes confuse such names.
//
//	x := 1; { x := 2 }  ->  x := 1; { xʹl2 := 2 }
//	len := 3            ->  lenʹl1 := 3
//
// All other generated names contain a ʹ, too.

import (
	"fmt"
	"go/types"
	"reflect"
	"strconv"
	"strings"
)

// fresh returns a name that no definition of the session has had.
func (p *Program) fresh(base string) string {
	p.counts[base]++
	return base + "ʹ" + strconv.Itoa(p.counts[base])
}

// freshOf returns a name for a part of each cell: bodyʹ3ʹ7 for cell 3. Cells share a counter, so that the number
// of counters does not grow with the cells.
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

// rt renders the call of a function of the compiled run time.
func (e *emitter) rt(function string, arguments ...string) string {
	return e.importAs("quern/rt", "rtʹ") + "." + function + "(" + strings.Join(arguments, ", ") + ")"
}

// descriptor renders a reference to the descriptor of a type. Lowered code gets the descriptor from a package of
// the session and not by number, so that it keeps exactly the descriptors alive that it needs.
func (e *emitter) descriptor(t types.Type) string {
	name := "D" + strconv.Itoa(e.Registry.ID(t))
	e.symbol(name, reflect.ValueOf(e.Registry.Descriptor(t)))
	return e.importAs(TypesPath, compiledTypes) + "." + name
}

// symbol adds an entry to Unit.Types.
func (e *emitter) symbol(name string, v reflect.Value) {
	if e.types == nil {
		e.types = map[string]reflect.Value{}
	}
	e.types[name] = v
}

// session renders the name of a symbol of the session.
func (e *emitter) session(symbol string) string {
	return e.importAs("quern/session", "sessionʹ") + "." + symbol
}

// mangle replaces characters that are not allowed in an identifier.
func mangle(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == 'ʹ' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return 'ʹ'
	}, s)
}

// declare gives a local variable its name.
func (f *function) declare(o types.Object) string {
	name := o.Name()
	f.taken[name]++
	if n := f.taken[name]; n > 1 || types.Universe.Lookup(name) != nil {
		name += "ʹl" + strconv.Itoa(n)
	}
	f.locals[o] = name
	return name
}

// temp returns a name for a temporary.
func (f *function) temp() string {
	f.temps++
	return "ʹt" + strconv.Itoa(f.temps)
}
