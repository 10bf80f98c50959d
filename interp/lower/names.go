package lower

// Names of definitions. A definition of a cell gets the user's name and a number, which increases with each redefinition, because
// values of the session that run may still use the earlier one:
//
//	func f() {}      ->  fʹ1
//	x := 1; x := ""  ->  var xʹ1 int; var xʹ2 string
//
// yaegi has the variables under these names; tracebacks have the functions.

import (
	"fmt"
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
func (e *emitter) freshOf(base string) string {
	e.counts[base]++
	return fmt.Sprintf("%sʹ%dʹ%d", base, e.cell.Number, e.counts[base])
}

// symbol adds an entry to Unit.Types.
func (e *emitter) symbol(name string, v reflect.Value) {
	if e.types == nil {
		e.types = map[string]reflect.Value{}
	}
	e.types[name] = v
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
