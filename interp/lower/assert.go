package lower

// Type assertions. Those to a concrete type that needs no box do not change.
//
//	x.(int)           ->  mustʹ1(x), with Go's panic
//	v, ok := x.(P)    ->  v, ok := asʹ1(x); in it rtʹ.As(x, 17)
//	v, ok := x.(I)    ->  ... rtʹ.Implements(x, 18)
//	v, ok := x.(io.Reader) -> ... rtʹ.Convert(x, 19)
//	v, ok := x.([]byte)    -> ... x.([]byte), and rtʹ.SameType(x, zero)
//
// yaegi treats any two assignable types as identical, for instance json.RawMessage and []byte, or
// chan int and <-chan int.

import (
	"fmt"
	"go/types"
	"strconv"
)

// asHelper returns the name of a func(x interface{}) (T, bool).
func (e *emitter) asHelper(t types.Type) string {
	id := e.Registry.ID(t)
	return e.helper("as", fmt.Sprintf("as #%d", id), func(name string) {
		typ, number := e.typ(t), strconv.Itoa(id)
		w := &e.out
		w.open("func %s(x interface{}) (%s, bool) {", name, typ)
		switch {
		case dynamic(t):
			w.open("if %s {", e.rt("Implements", "x", e.descriptor(t)))
			w.line("return x, true")
			w.close("}")
			w.line("return nil, false")
		case types.IsInterface(t):
			w.line("v, ok := %s", e.rt("Convert", "x", e.descriptor(t)))
			w.open("if !ok {")
			w.line("return nil, false")
			w.close("}")
			w.line("return v.(%s), true", typ)
		case e.boxed(t) && isEmptyStruct(t):
			w.line("var zero %s", typ)
			w.line("return zero, %s", e.rt("Is", "x", number))
		case e.boxed(t):
			w.line("v, ok := %s", e.rt("As", "x", number))
			w.open("if ok {")
			w.line("return v.(%s), true", typ)
			w.close("}")
			w.line("var zero %s", typ)
			w.line("return zero, false")
		default:
			w.line("var zero %s", typ)
			w.line("v, ok := x.(%s)", typ)
			if _, basic := t.Underlying().(*types.Basic); !basic {
				w.line("ok = ok && %s", e.rt("SameType", "x", "zero"))
			}
			w.open("if ok {")
			w.line("return v, true")
			w.close("}")
			w.line("return zero, false")
		}
		w.close("}")
	})
}

// mustHelper returns the name of a func(x interface{}) T that panics as Go does. source is the
// static type of x.
func (e *emitter) mustHelper(t, source types.Type) string {
	id, from := e.Registry.ID(t), e.Registry.ID(source)
	return e.helper("must", fmt.Sprintf("must #%d #%d", id, from), func(name string) {
		w := &e.out
		w.open("func %s(x interface{}) %s {", name, e.typ(t))
		w.line("v, ok := %s(x)", e.asHelper(t))
		w.open("if !ok {")
		w.line("%s", e.rt("AssertionFailed", "x", e.descriptor(t), e.descriptor(source)))
		w.close("}")
		w.line("return v")
		w.close("}")
	})
}
