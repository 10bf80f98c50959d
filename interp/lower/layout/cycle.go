package layout

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"unsafe"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
)

// cycle is the creation of types that mention each other.
type cycle struct {
	*Builder
	members      []*types.Named
	open         []*types.Named // other types whose components are being created
	placeholders typeutil.Map   // *types.Named to reflect.Type
	made         typeutil.Map   // *types.Named to reflect.Type, with placeholders in it
	fresh        typeutil.Map   // *types.Named to *named.Type, what New has returned
	unsettled    int            // number of components so far whose reflect type depends on where they occur
}

// make returns the type of n, with placeholders behind its pointers.
func (c *cycle) make(n *types.Named) reflect.Type {
	if t, ok := c.made.At(n).(reflect.Type); ok {
		return t
	}
	outer := c.outer(n)
	shorten(outer, n)
	t := c.name(n, outer)
	c.made.Set(n, t)
	return t
}

// name returns t with the name of n, if the types of this Builder have names.
func (c *cycle) name(n *types.Named, t reflect.Type) reflect.Type {
	if c.New == nil {
		return t
	}
	made, err := c.New(n, t)
	if err != nil {
		panic(err)
	}
	c.fresh.Set(n, made)
	return made.Type()
}

// complete gives the type that New has made for n its components, which are final now.
func (c *cycle) complete(n *types.Named) {
	var parts named.Parts
	if s, ok := n.Underlying().(*types.Struct); ok {
		parts.Fields = c.fields(s, false)
	} else {
		parts.Type = c.outer(n)
	}
	if err := c.Complete(n, c.fresh.At(n).(*named.Type), parts); err != nil {
		panic(err)
	}
}

// outer returns a reflect type with the components of n. Components that are inside n, or whose size n contains, have
// their final size.
func (c *cycle) outer(n *types.Named) reflect.Type {
	switch u := n.Underlying().(type) {
	case *types.Map:
		return reflect.MapOf(c.typeOf(u.Key(), false), c.typeOf(u.Elem(), false))
	case *types.Chan:
		return reflect.ChanOf(directions[u.Dir()], c.typeOf(u.Elem(), false))
	}
	return c.typeOf(n.Underlying(), false)
}

// finish gives the components of n their final types.
func (c *cycle) finish(n *types.Named) {
	if c.New != nil {
		c.complete(n)
		return
	}
	t := c.built.At(n).(reflect.Type)
	if s, ok := n.Underlying().(*types.Struct); ok {
		for i, field := range c.fields(s, false) {
			if want := field.Type; t.Field(i).Type != want {
				named.SetField(t, i, want)
			}
		}
		return
	}
	named.SetParts(t, c.outer(n))
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

// declaredField returns a field as it was declared.
func (c *cycle) declaredField(s *types.Struct, i int, indirect bool) reflect.StructField {
	v := s.Field(i)
	f := reflect.StructField{Name: v.Name(), Tag: reflect.StructTag(s.Tag(i)), Type: c.typeOf(v.Type(), indirect), Anonymous: v.Embedded()}
	if !v.Exported() {
		f.PkgPath = origin.ImportPath(v.Pkg())
	}
	return f
}

// typeOf returns the reflect type of t. If indirect is true, the struct that is being created contains only a pointer to t or
// the like, so the size of t does not matter.
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
		return c.structOf(t, indirect)
	case *types.Signature:
		return reflect.FuncOf(c.tuple(t.Params()), c.tuple(t.Results()), t.Variadic())
	case *types.Interface:
		return c.iface(t, t)
	}
	panic(fmt.Errorf("no compiled form of %s", t))
}

// iface returns the type of an interface of a cell.
func (c *cycle) iface(t types.Type, i *types.Interface) reflect.Type {
	if n, ok := t.(*types.Named); i.NumMethods() == 0 && (c.Interface == nil || !ok || n.Obj().Pkg() == nil) {
		return reflect.TypeFor[any]()
	} else if c.Interface == nil {
		return reflect.TypeFor[Interface]()
	}
	return c.Interface(t)
}

// structOf returns the reflect type of an unnamed struct. Translated C code has variables of struct types with hundreds of fields.
func (c *cycle) structOf(t *types.Struct, indirect bool) reflect.Type {
	if made, ok := c.structs[t]; ok {
		return made
	}
	if made, ok := c.literals.At(t).(reflect.Type); ok {
		return made
	}
	before := c.unsettled
	fields := c.fields(t, indirect)
	if c.New != nil && c.unsettled == before && !c.unfinished() && slices.ContainsFunc(fields, func(f reflect.StructField) bool { return f.Anonymous }) {
		return c.literal(t, fields)
	}
	var embedded []int
	for i := range fields {
		if f := &fields[i]; f.Anonymous { // reflect.StructOf does not support all of them
			c.count++
			f.Tag += reflect.StructTag(fmt.Sprintf(` embedded:"%p %d"`, c.Builder, c.count)) // a type that nothing else can have
			f.Anonymous = false
			embedded = append(embedded, i)
		}
	}
	made := reflect.StructOf(fields)
	for _, i := range embedded {
		named.SetEmbedded(made, i)
	}
	if c.New == nil && c.unsettled == before {
		if c.structs == nil {
			c.structs = map[*types.Struct]reflect.Type{}
		}
		c.structs[t] = made
	}
	return made
}

// literal returns the type of a struct literal with embedded fields, which package reflect cannot make.
func (c *cycle) literal(t *types.Struct, fields []reflect.StructField) reflect.Type {
	plain := slices.Clone(fields)
	for i := range plain {
		plain[i].Anonymous = false
	}
	made, err := c.New(t, reflect.StructOf(plain))
	if err != nil {
		panic(err)
	}
	c.literals.Set(t, made.Type())
	if err := c.Complete(t, made, named.Parts{Fields: fields}); err != nil {
		c.literals.Delete(t)
		panic(err)
	}
	return made.Type()
}

func (c *cycle) tuple(t *types.Tuple) []reflect.Type {
	out := make([]reflect.Type, t.Len())
	for i := range out {
		out[i] = c.typeOf(t.At(i).Type(), true)
	}
	return out
}

func (c *cycle) named(t *types.Named, indirect bool) reflect.Type {
	t = c.source(t)
	if t.Obj().Pkg() == nil && t.Obj().Name() == "error" {
		return reflect.TypeFor[error]()
	}
	if i, ok := t.Underlying().(*types.Interface); ok && (t.Obj().Pkg() == nil || c.Interpreted(t)) {
		return c.iface(t, i)
	}
	if !c.Interpreted(t) {
		if t.TypeArgs().Len() > 0 {
			return c.typeOf(t.Underlying(), indirect)
		}
		pkg := t.Obj().Pkg()
		made, ok := Compiled(c.Packages[pkg.Path()+"/"+pkg.Name()], t.Obj())
		if !ok {
			made, ok = c.hidden(t.Obj())
		}
		if !ok {
			panic(fmt.Errorf("no compiled type %s.%s", pkg.Path(), t.Obj().Name()))
		}
		return made
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
		panic(fmt.Errorf("%s mentions itself", t.Obj().Name()))
	}
	if done, ok := c.names.At(t).(reflect.Type); ok {
		return done
	}
	c.open = append(c.open, t)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	before := c.unsettled
	made := c.typeOf(t.Underlying(), indirect)
	shorten(made, t)
	switch {
	case c.New == nil && c.unsettled > before, c.New != nil && c.unfinished():
		return made
	case c.New != nil:
		made = c.name(t, made)
		c.names.Set(t, made) // methods may mention it
		complete := false
		defer func() {
			if !complete {
				c.names.Delete(t)
			}
		}()
		c.complete(t)
		complete = true
		return made
	}
	c.names.Set(t, made)
	return made
}

// unfinished reports whether types may still contain placeholders.
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
	types.UnsafePointer: reflect.TypeFor[unsafe.Pointer](),
}
