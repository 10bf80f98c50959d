package layout

import (
	"fmt"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/named"
)

// Interface is the type, in lowered code, of all interfaces of cells that have methods. Its values are those of the declared type: the
// first word is a method table of that. Package reflect can read and copy them, but not store another value.
type Interface interface{ methodOfInterfaceOfCell() }

// Builder creates the types of one session.
type Builder struct {
	// Interpreted reports whether a named type is declared in a cell; other types are in
	// Packages.
	Interpreted func(*types.Named) bool
	// Source, if not nil, returns the type that lowered code has for an instance of a compiled generic type, such as
	// atomic.Pointer[int]; nil if it has none.
	Source func(*types.Named) *types.Named
	// Packages is the table of compiled symbols, keyed "path/name". The symbol of a
	// type is a nil pointer to it.
	Packages map[string]map[string]reflect.Value
	// Declared selects structs with fields as they were declared, with their names and
	// tags, unexported or embedded, instead of those of lowered code. The memory layout is
	// the same.
	Declared bool
	// New, if not nil, makes the named type for a declared type. memory has its memory layout. Declared must be true.
	// t may also be a struct literal with embedded fields.
	New func(t types.Type, memory reflect.Type) (*named.Type, error)
	// Complete gives a type of New its final components and its methods.
	Complete func(t types.Type, made *named.Type, parts named.Parts) error

	// Interface, if not nil, returns the type of an interface of a cell. Without it, that is interface{} or [Interface].
	Interface func(t types.Type) reflect.Type

	names typeutil.Map // *types.Named to reflect.Type, for types that are not recursive
	built typeutil.Map // *types.Named to reflect.Type, for complete recursive types
	// structs are unnamed structs whose components are complete.
	structs map[*types.Struct]reflect.Type
	// literals are the types that New has made for struct literals, by *types.Struct.
	literals typeutil.Map
	count    int // number of placeholders, to make each one unique

	shapes map[string][]reflect.Type // text of a shape to the types of its members

	recursive map[*types.Named]bool // results of Recursive

	mentionedTypes map[typeName]reflect.Type // see hidden
}

// Recursive reports whether t is a type of a cell that package reflect cannot create because it mentions itself: a struct, or
// another type that mentions itself without a named struct in between.
func (b *Builder) Recursive(t *types.Named) bool {
	t = b.source(t)
	if !b.Interpreted(t) {
		return false
	}
	known, ok := b.recursive[t]
	if !ok {
		if b.recursive == nil {
			b.recursive = map[*types.Named]bool{}
		}
		known = b.mentionsItself(t)
		b.recursive[t] = known
	}
	return known
}

// mentionsItself is Recursive for a type of a cell.
func (b *Builder) mentionsItself(t *types.Named) bool {
	switch t.Underlying().(type) {
	case *types.Struct:
		return b.reaches(t.Underlying(), t, &typeutil.Map{})
	case *types.Basic, *types.Interface:
		return false
	}
	return closes(t.Underlying(), t, &typeutil.Map{})
}

// source returns the form of t in lowered code.
func (b *Builder) source(t *types.Named) *types.Named {
	if b.Source == nil || t.TypeArgs().Len() == 0 {
		return t
	}
	if n := b.Source(t); n != nil {
		return n
	}
	return t
}

// closes reports whether t mentions target without a named struct in between.
func closes(t types.Type, target *types.Named, seen *typeutil.Map) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if types.Identical(t, target) {
			return true
		}
		if _, ok := t.Underlying().(*types.Struct); ok || seen.Set(t, true) != nil {
			return false
		}
		return closes(t.Underlying(), target, seen)
	case *types.Pointer:
		return closes(t.Elem(), target, seen)
	case *types.Slice:
		return closes(t.Elem(), target, seen)
	case *types.Array:
		return closes(t.Elem(), target, seen)
	case *types.Chan:
		return closes(t.Elem(), target, seen)
	case *types.Map:
		return closes(t.Key(), target, seen) || closes(t.Elem(), target, seen)
	case *types.Struct:
		for v := range t.Fields() {
			if closes(v.Type(), target, seen) {
				return true
			}
		}
	case *types.Tuple:
		for v := range t.Variables() {
			if closes(v.Type(), target, seen) {
				return true
			}
		}
	case *types.Signature:
		return closes(t.Params(), target, seen) || closes(t.Results(), target, seen)
	}
	return false
}

// reaches reports whether t mentions target, directly or through other types.
func (b *Builder) reaches(t types.Type, target *types.Named, seen *typeutil.Map) bool {
	found := false
	b.mentioned(t, seen, func(n *types.Named) { found = found || types.Identical(n, target) })
	return found
}

// mentioned calls visit for the interpreted named types that t mentions, directly or through other types.
func (b *Builder) mentioned(t types.Type, seen *typeutil.Map, visit func(*types.Named)) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t = b.source(t); !b.Interpreted(t) || types.IsInterface(t) {
			return
		}
		visit(t)
		if seen.Set(t, true) == nil {
			b.mentioned(t.Underlying(), seen, visit)
		}
	case *types.Pointer:
		b.mentioned(t.Elem(), seen, visit)
	case *types.Slice:
		b.mentioned(t.Elem(), seen, visit)
	case *types.Array:
		b.mentioned(t.Elem(), seen, visit)
	case *types.Chan:
		b.mentioned(t.Elem(), seen, visit)
	case *types.Map:
		b.mentioned(t.Key(), seen, visit)
		b.mentioned(t.Elem(), seen, visit)
	case *types.Struct:
		for i := range t.NumFields() {
			b.mentioned(t.Field(i).Type(), seen, visit)
		}
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for i := range tuple.Len() {
				b.mentioned(tuple.At(i).Type(), seen, visit)
			}
		}
	}
}

// Type returns the reflect type of a recursive type, and creates those of all other types on its cycles. It returns an
// error for a type that is not in the symbol tables, or that can only be a named type.
func (b *Builder) Type(t *types.Named) (made reflect.Type, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				e = fmt.Errorf("%v", r)
			}
			made, err = nil, fmt.Errorf("the type %s: %w", t.Obj().Name(), e)
		}
	}()
	t = b.source(t)
	if done, ok := b.built.At(t).(reflect.Type); ok {
		return done, nil
	}
	s, ok := b.shapeOf(t)
	if known := b.shapes[s.text]; ok && known != nil {
		for i, n := range s.members {
			b.built.Set(n, known[i])
		}
		return known[0], nil
	}
	c := &cycle{Builder: b}
	b.mentioned(t, &typeutil.Map{}, func(n *types.Named) {
		if c.placeholders.At(n) == nil && b.built.At(n) == nil && b.Recursive(n) && b.reaches(n, t, &typeutil.Map{}) {
			c.placeholders.Set(n, b.placeholder(n))
			c.members = append(c.members, n)
		}
	})
	for _, n := range c.members {
		c.make(n)
	}
	for _, n := range c.members {
		b.built.Set(n, c.made.At(n))
	}
	complete := false
	defer func() {
		if !complete {
			b.Forget(c.members...)
		}
	}()
	for _, n := range c.members {
		c.finish(n)
	}
	complete = true
	if ok {
		b.keep(s)
	}
	return b.built.At(t).(reflect.Type), nil
}

// placeholder returns a unique type. It has the kind and the size of t unless t is a struct or an array.
func (b *Builder) placeholder(t *types.Named) reflect.Type {
	b.count++
	p := reflect.StructOf([]reflect.StructField{{
		Name: "Placeholder", Type: reflect.TypeFor[int](),
		Tag: reflect.StructTag(fmt.Sprintf("%p %d", b, b.count)),
	}})
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return p
	case *types.Slice:
		return reflect.SliceOf(p)
	case *types.Map:
		return reflect.MapOf(reflect.TypeFor[int](), p)
	case *types.Chan:
		return reflect.ChanOf(reflect.BothDir, p)
	case *types.Signature:
		return reflect.FuncOf([]reflect.Type{p}, nil, false)
	}
	return reflect.PointerTo(p)
}

// sized reports whether values of t have the size of its placeholder.
func sized(t *types.Named) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return false
	}
	return true
}
