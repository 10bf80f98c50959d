package layout

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// A type that a cell declares again is a different type for the type checker, but types created by reflection are never freed. So
// a recursive type with the same shape as an earlier one gets the same reflect type, as types that are not recursive do anyway.
// Descriptors distinguish the values of types of cells.

// shape describes everything on which the reflect type of a recursive type depends. members are the types that are created together
// with it, in the order of the description.
type shape struct {
	text    string
	members []*types.Named
}

// shapeOf returns the shape of t. ok is false if it has none.
func (b *Builder) shapeOf(t *types.Named) (s shape, ok bool) {
	if b.Declared || b.New != nil {
		return shape{}, false
	}
	w := &shapeWriter{cycle: &cycle{Builder: b}, of: t, ok: true}
	w.typ(t)
	return shape{w.b.String(), w.members}, w.ok
}

// keep records the types of the members of a shape for later types of the same shape. If a member is not complete, it
// forgets the shape.
func (b *Builder) keep(s shape) {
	if b.shapes == nil {
		b.shapes = map[string][]reflect.Type{}
	}
	for _, n := range s.members {
		made, ok := b.built.At(n).(reflect.Type)
		if !ok {
			delete(b.shapes, s.text)
			return
		}
		b.shapes[s.text] = append(b.shapes[s.text], made)
	}
}

// shapeWriter writes a shape.
type shapeWriter struct {
	*cycle
	of      *types.Named
	members []*types.Named
	index   typeutil.Map // *types.Named to its index in members
	open    []*types.Named
	b       strings.Builder
	ok      bool
}

func (w *shapeWriter) printf(format string, arguments ...any) {
	fmt.Fprintf(&w.b, format, arguments...)
}

// typ writes the properties that cycle.typeOf uses.
func (w *shapeWriter) typ(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		w.named(t)
	case *types.Pointer:
		w.printf("*")
		w.typ(t.Elem())
	case *types.Slice:
		w.printf("[]")
		w.typ(t.Elem())
	case *types.Array:
		w.printf("[%d]", t.Len())
		w.typ(t.Elem())
	case *types.Map:
		w.printf("map[")
		w.typ(t.Key())
		w.printf("]")
		w.typ(t.Elem())
	case *types.Chan:
		w.printf("chan %d ", t.Dir())
		w.typ(t.Elem())
	case *types.Struct:
		if Hidden(t, w.Interpreted) != nil {
			w.made(t)
			return
		}
		w.printf("struct{")
		for i := range t.NumFields() {
			w.printf("%s %q ", FieldName(t, i), Tag(t, i))
			w.typ(t.Field(i).Type())
			w.printf(";")
		}
		w.printf("}")
	case *types.Signature:
		w.printf("func %t", t.Variadic())
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			w.printf("(")
			for v := range tuple.Variables() {
				w.typ(v.Type())
				w.printf(",")
			}
			w.printf(")")
		}
	default:
		w.made(t)
	}
}

// made writes a type that does not depend on the types that are created together.
func (w *shapeWriter) made(t types.Type) { w.reflect(w.typeOf(t, true)) }

// reflect writes a reflect type. Because types are never freed, the address identifies it.
func (w *shapeWriter) reflect(t reflect.Type) { w.printf("@%p", t) }

func (w *shapeWriter) named(t *types.Named) {
	t = w.source(t)
	if types.IsInterface(t) || !w.Interpreted(t) {
		w.made(t)
		return
	}
	if i, ok := w.index.At(t).(int); ok {
		w.printf("#%d", i)
		return
	}
	if done, ok := w.built.At(t).(reflect.Type); ok {
		w.reflect(done)
		return
	}
	recursive := w.Recursive(t)
	if _, ok := t.Underlying().(*types.Struct); ok && !recursive || recursive && !w.reaches(t, w.of, &typeutil.Map{}) {
		w.made(t)
		return
	}
	if recursive {
		w.index.Set(t, len(w.members))
		w.printf("#%d=", len(w.members))
		w.members = append(w.members, t)
	} else {
		if slices.Contains(w.open, t) {
			w.ok = false
			return
		}
		w.open = append(w.open, t)
		defer func() { w.open = w.open[:len(w.open)-1] }()
	}
	w.typ(t.Underlying())
}
