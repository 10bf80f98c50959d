package layout

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strconv"

	"golang.org/x/tools/go/types/typeutil"
)

// Builder makes the types of one session.
type Builder struct {
	// Interpreted reports whether a named type is of a cell; others are found in
	// Packages.
	Interpreted func(*types.Named) bool
	// Packages is yaegi's table of compiled symbols, keyed "path/name": a
	// type is a nil pointer to it.
	Packages map[string]map[string]reflect.Value
	// Declared has the fields of structs as they were declared, with their names
	// and tags, unexported or embedded, and not as they are in lowered code. Values
	// lie in memory in the same way.
	Declared bool
	// Name, if not nil, gives the name, as "main.P", and the methods of a type that
	// was declared and of pointers to it; made has the kind of the type. It calls done
	// with the type that has them.
	Name func(t *types.Named, made reflect.Type) (name string, methods, ofPointer []Method, done func(reflect.Type))

	names typeutil.Map // *types.Named to reflect.Type: those that are not recursive
	built typeutil.Map // *types.Named to reflect.Type: recursive structs that are complete
	count int          // of placeholders, to tell them apart

	shapes map[string][]reflect.Type // by the text of a shape, of its members
}

// Recursive reports whether t is a type of a cell that yaegi cannot make
// because it mentions itself: a struct, or another type with no named struct in
// between. Of function types it is those for which Packed does not hold.
func (b *Builder) Recursive(t *types.Named) bool {
	if !b.Interpreted(t) {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct:
		return b.reaches(t.Underlying(), t, &typeutil.Map{})
	case *types.Basic, *types.Interface:
		return false
	}
	return !Packed(t) && closes(t.Underlying(), t, &typeutil.Map{})
}

// Packed reports whether t is a function type that has itself as a parameter or
// as its one result. Lowered code has an interface{} in its place.
func Packed(t *types.Named) bool {
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || sig.Variadic() {
		return false
	}
	self := func(list *types.Tuple) bool {
		for v := range list.Variables() {
			if types.Identical(v.Type(), t) {
				return true
			}
		}
		return false
	}
	if self(sig.Results()) {
		return sig.Results().Len() == 1
	}
	return self(sig.Params())
}

// closes reports whether t mentions target with no named struct in between.
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

// reaches reports whether t mentions target.
func (b *Builder) reaches(t types.Type, target *types.Named, seen *typeutil.Map) bool {
	found := false
	b.mentioned(t, seen, func(n *types.Named) { found = found || types.Identical(n, target) })
	return found
}

// mentioned calls visit for the interpreted named types that t mentions, those
// mentioned by them included.
func (b *Builder) mentioned(t types.Type, seen *typeutil.Map, visit func(*types.Named)) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if !b.Interpreted(t) || types.IsInterface(t) {
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

// Type makes the reflect type of a recursive type, with those of all others on
// its cycles. The error is about a type that yaegi's tables do not have,
// or that only a named type can be.
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
	for _, n := range c.members {
		c.finish(n)
	}
	if ok {
		b.keep(s)
	}
	return b.built.At(t).(reflect.Type), nil
}

// placeholder makes a type that differs from every other, of the size of t
// unless t is a struct or an array.
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

// cycle is the making of types that mention each other.
type cycle struct {
	*Builder
	members      []*types.Named
	open         []*types.Named // other types whose parts are being made
	placeholders typeutil.Map   // *types.Named to reflect.Type
	made         typeutil.Map   // *types.Named to reflect.Type, with placeholders in it
	unsettled    int            // how many parts of types were made that depend on where they are
}

// make makes n with placeholders behind its pointers.
func (c *cycle) make(n *types.Named) reflect.Type {
	if t, ok := c.made.At(n).(reflect.Type); ok {
		return t
	}
	t := c.name(n, c.outer(n))
	c.made.Set(n, t)
	return t
}

// name returns t with the name of n, if it is to have one.
func (c *cycle) name(n *types.Named, t reflect.Type) reflect.Type {
	if c.Name == nil {
		return t
	}
	text, methods, ofPointer, done := c.Name(n, t)
	t = Named(t, text, methods, ofPointer)
	done(t)
	return t
}

// outer returns a reflect type with the parts of n. Where a part lies in n, or n knows
// its size, it has that size.
func (c *cycle) outer(n *types.Named) reflect.Type {
	switch u := n.Underlying().(type) {
	case *types.Map:
		return reflect.MapOf(c.typeOf(u.Key(), false), c.typeOf(u.Elem(), false))
	case *types.Chan:
		return reflect.ChanOf(directions[u.Dir()], c.typeOf(u.Elem(), false))
	}
	return c.typeOf(n.Underlying(), false)
}

// finish gives the parts of n their types.
func (c *cycle) finish(n *types.Named) {
	t := c.built.At(n).(reflect.Type)
	if s, ok := n.Underlying().(*types.Struct); ok {
		for i, field := range c.fields(s, false) {
			if want := field.Type; t.Field(i).Type != want {
				setFieldType(t, i, want)
			}
		}
		return
	}
	setParts(t, c.outer(n))
}

func (c *cycle) fields(s *types.Struct, indirect bool) []reflect.StructField {
	fields := make([]reflect.StructField, s.NumFields())
	for i := range fields {
		if c.Declared {
			fields[i] = c.declaredField(s, i, indirect)
			continue
		}
		fields[i] = reflect.StructField{
			Name: FieldName(s, i), Tag: reflect.StructTag(Tag(s, i)),
			Type: c.typeOf(s.Field(i).Type(), indirect),
		}
	}
	return fields
}

// declaredField returns a field as it was declared. The tag of an embedded one makes the
// struct differ from all others, since it is changed after it was made.
func (c *cycle) declaredField(s *types.Struct, i int, indirect bool) reflect.StructField {
	v := s.Field(i)
	f := reflect.StructField{Name: v.Name(), Tag: reflect.StructTag(s.Tag(i)), Type: c.typeOf(v.Type(), indirect)}
	if !v.Exported() {
		f.PkgPath = "main"
	}
	if v.Embedded() {
		c.count++
		f.Tag += reflect.StructTag(fmt.Sprintf(` embedded:"%p %d"`, c.Builder, c.count))
	}
	return f
}

// typeOf returns the reflect type of t; indirect tells that its size does not matter
// to the struct that is being made.
func (c *cycle) typeOf(t types.Type, indirect bool) reflect.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if made, ok := basic[t.Kind()]; ok {
			return made
		}
	case *types.Named:
		return c.named(t, indirect)
	case *types.Pointer:
		return reflect.PointerTo(c.typeOf(t.Elem(), true))
	case *types.Slice:
		return reflect.SliceOf(c.typeOf(t.Elem(), true))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), c.typeOf(t.Elem(), indirect))
	case *types.Map:
		return reflect.MapOf(c.typeOf(t.Key(), true), c.typeOf(t.Elem(), true))
	case *types.Chan:
		return reflect.ChanOf(directions[t.Dir()], c.typeOf(t.Elem(), true))
	case *types.Struct:
		if o := Hidden(t, c.Interpreted); o != nil && !c.Declared {
			return c.typeOf(o.Type(), indirect)
		}
		made := reflect.StructOf(c.fields(t, indirect))
		for i := range t.NumFields() {
			if c.Declared && t.Field(i).Embedded() {
				setEmbedded(made, i)
			}
		}
		return made
	case *types.Signature:
		return reflect.FuncOf(c.tuple(t.Params()), c.tuple(t.Results()), t.Variadic())
	case *types.Interface:
		return reflect.TypeFor[any]()
	}
	panic(fmt.Errorf("no compiled form of %s", t))
}

func (c *cycle) tuple(t *types.Tuple) []reflect.Type {
	out := make([]reflect.Type, t.Len())
	for i := range out {
		out[i] = c.typeOf(t.At(i).Type(), true)
	}
	return out
}

func (c *cycle) named(t *types.Named, indirect bool) reflect.Type {
	if t.Obj().Pkg() == nil && t.Obj().Name() == "error" {
		return reflect.TypeFor[error]()
	}
	if types.IsInterface(t) && (t.Obj().Pkg() == nil || c.Interpreted(t)) {
		return reflect.TypeFor[any]()
	}
	if !c.Interpreted(t) {
		if t.TypeArgs().Len() > 0 {
			return c.typeOf(t.Underlying(), indirect)
		}
		pkg := t.Obj().Pkg()
		symbol, ok := c.Packages[pkg.Path()+"/"+pkg.Name()][t.Obj().Name()]
		if !ok || symbol.Kind() != reflect.Pointer {
			panic(fmt.Errorf("no compiled type %s.%s", pkg.Path(), t.Obj().Name()))
		}
		return symbol.Type().Elem()
	}
	if done, ok := c.built.At(t).(reflect.Type); ok {
		return done
	}
	if placeholder, ok := c.placeholders.At(t).(reflect.Type); ok {
		c.unsettled++
		if indirect || sized(t) {
			return placeholder
		}
		return c.make(t)
	}
	if c.Recursive(t) {
		made, err := c.Type(t)
		if err != nil {
			panic(err)
		}
		return made
	}
	if slices.Contains(c.open, t) {
		if _, ok := t.Underlying().(*types.Signature); ok {
			c.unsettled++
			return reflect.TypeFor[any]() // see Packed
		}
		panic(fmt.Errorf("%s mentions itself", t.Obj().Name()))
	}
	if done, ok := c.names.At(t).(reflect.Type); ok {
		return done
	}
	c.open = append(c.open, t)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	before := c.unsettled
	made := c.typeOf(t.Underlying(), indirect)
	switch {
	case c.Name == nil && c.unsettled > before, c.Name != nil && c.unfinished():
		return made
	case c.Name != nil:
		made = c.name(t, made)
	}
	c.names.Set(t, made)
	return made
}

// unfinished reports whether types may still have placeholders in them.
func (c *cycle) unfinished() bool {
	for _, n := range c.members {
		if c.built.At(n) == nil {
			return true
		}
	}
	return false
}

var directions = map[types.ChanDir]reflect.ChanDir{
	types.SendRecv: reflect.BothDir, types.SendOnly: reflect.SendDir, types.RecvOnly: reflect.RecvDir,
}

var basic = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
	types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
	types.UnsafePointer: unsafePointer,
}

// Hidden returns the compiled type that has the struct t with unexported fields for its
// underlying type, if it is one: only that has such fields.
func Hidden(t *types.Struct, interpreted func(*types.Named) bool) *types.TypeName {
	for f := range t.Fields() {
		if f.Exported() || f.Pkg() == nil || f.Pkg().Path() == "main" {
			continue
		}
		scope := f.Pkg().Scope()
		for _, name := range scope.Names() {
			o, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || !o.Exported() || o.IsAlias() || o.Type().Underlying() != t {
				continue
			}
			if n, ok := o.Type().(*types.Named); ok && !interpreted(n) {
				return o
			}
		}
		return nil
	}
	return nil
}

// FieldName returns the name of field i of s in lowered code. Every name is exported,
// as yaegi would make it; a blank field gets a name.
func FieldName(s *types.Struct, i int) string {
	v := s.Field(i)
	switch {
	case v.Name() == "_":
		return "Xblankʹ" + strconv.Itoa(i)
	case v.Exported():
		return v.Name()
	}
	name := "X" + v.Name()
	for hasField(s, name) {
		name = "X" + name
	}
	return name
}

func hasField(s *types.Struct, name string) bool {
	for v := range s.Fields() {
		if v.Name() == name {
			return true
		}
	}
	return false
}

// Tag returns the tag of field i of s in lowered code: fields that are not exported
// are hidden from encoders.
func Tag(s *types.Struct, i int) string {
	v := s.Field(i)
	if tag := s.Tag(i); tag != "" || v.Exported() || v.Embedded() {
		return tag
	}
	return `json:"-" xml:"-"`
}
