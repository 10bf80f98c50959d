package layout

import (
	"go/token"
	"go/types"
	"reflect"
)

// Compiled returns the compiled form of a named type of a compiled package. symbols are those of the package. An unexported
// type, such as that of binary.LittleEndian, has no symbol; it is found as the type of a variable, a parameter, a result or
// a field of what the package exports.
func Compiled(symbols map[string]reflect.Value, o *types.TypeName) (reflect.Type, bool) {
	if token.IsExported(o.Name()) {
		symbol, ok := symbols[o.Name()]
		if !ok || symbol.Kind() != reflect.Pointer {
			return nil, false
		}
		return symbol.Type().Elem(), true
	}
	s := search{wanted: o, seen: map[types.Type]bool{}}
	scope := o.Pkg().Scope()
	for _, name := range scope.Names() {
		exported := scope.Lookup(name)
		symbol, ok := symbols[name]
		if !ok || !exported.Exported() {
			continue
		}
		switch exported.(type) {
		case *types.TypeName:
			if symbol.Kind() == reflect.Pointer {
				s.visit(exported.Type(), symbol.Type().Elem())
			}
		case *types.Var, *types.Func:
			s.visit(exported.Type(), symbol.Type())
		}
		if s.found != nil {
			return s.found, true
		}
	}
	return nil, false
}

// typeName is the name of a type as package reflect reports it.
type typeName struct{ path, name string }

// hidden returns the compiled form of a type of a package that cannot be imported: other packages have an alias of it, or mention it in
// what they export.
func (b *Builder) hidden(o *types.TypeName) (reflect.Type, bool) {
	if b.mentionedTypes == nil {
		b.mentionedTypes = map[typeName]reflect.Type{}
		for _, table := range b.Packages {
			for _, symbol := range table {
				b.mention(symbol.Type(), 3)
			}
		}
	}
	made, ok := b.mentionedTypes[typeName{o.Pkg().Path(), o.Name()}]
	return made, ok
}

// mention records the named types in t, down to a depth.
func (b *Builder) mention(t reflect.Type, depth int) {
	if t.Name() != "" && t.PkgPath() != "" {
		name := typeName{t.PkgPath(), t.Name()}
		if b.mentionedTypes[name] != nil {
			return
		}
		b.mentionedTypes[name] = t
	}
	if depth == 0 {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		b.mention(t.Elem(), depth-1)
	case reflect.Map:
		b.mention(t.Key(), depth-1)
		b.mention(t.Elem(), depth-1)
	case reflect.Func:
		for in := range t.Ins() {
			b.mention(in, depth-1)
		}
		for out := range t.Outs() {
			b.mention(out, depth-1)
		}
	case reflect.Struct:
		for f := range t.Fields() {
			b.mention(f.Type, depth-1)
		}
	}
	if t.Name() != "" {
		for m := range reflect.PointerTo(t).Methods() {
			b.mention(m.Type, depth-1)
		}
	}
}

// search looks for the compiled form of a type in pairs of a type and its compiled form.
type search struct {
	wanted *types.TypeName
	seen   map[types.Type]bool
	found  reflect.Type
}

func (s *search) visit(t types.Type, compiled reflect.Type) {
	t = types.Unalias(t)
	if s.found != nil || s.seen[t] || !sameKind(t, compiled) {
		return
	}
	s.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if t.Obj() == s.wanted {
			s.found = compiled
			return
		}
		if t.Obj().Pkg() != s.wanted.Pkg() || t.TypeArgs().Len() > 0 {
			return
		}
		for m := range t.Methods() {
			if method, ok := reflect.PointerTo(compiled).MethodByName(m.Name()); ok && !types.IsInterface(t) {
				s.signature(m.Signature(), method.Type, 1)
			}
		}
		s.visit(t.Underlying(), compiled)
	case *types.Pointer:
		s.visit(t.Elem(), compiled.Elem())
	case *types.Slice:
		s.visit(t.Elem(), compiled.Elem())
	case *types.Array:
		s.visit(t.Elem(), compiled.Elem())
	case *types.Chan:
		s.visit(t.Elem(), compiled.Elem())
	case *types.Map:
		s.visit(t.Key(), compiled.Key())
		s.visit(t.Elem(), compiled.Elem())
	case *types.Signature:
		s.signature(t, compiled, 0)
	case *types.Struct:
		for i := range min(t.NumFields(), compiled.NumField()) {
			s.visit(t.Field(i).Type(), compiled.Field(i).Type)
		}
	case *types.Interface:
		for m := range t.Methods() {
			if method, ok := compiled.MethodByName(m.Name()); ok {
				s.signature(m.Signature(), method.Type, 0)
			}
		}
	}
}

// signature visits parameters and results; the compiled function has receivers parameters before them.
func (s *search) signature(t *types.Signature, compiled reflect.Type, receivers int) {
	if t.TypeParams().Len() > 0 || compiled.NumIn() != receivers+t.Params().Len() || compiled.NumOut() != t.Results().Len() {
		return
	}
	for i := range t.Params().Len() {
		s.visit(t.Params().At(i).Type(), compiled.In(receivers+i))
	}
	for i := range t.Results().Len() {
		s.visit(t.Results().At(i).Type(), compiled.Out(i))
	}
}

// sameKind reports whether compiled can be the compiled form of t.
func sameKind(t types.Type, compiled reflect.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basic[u.Kind()] != nil && basic[u.Kind()].Kind() == compiled.Kind()
	case *types.Pointer:
		return compiled.Kind() == reflect.Pointer
	case *types.Slice:
		return compiled.Kind() == reflect.Slice
	case *types.Array:
		return compiled.Kind() == reflect.Array
	case *types.Chan:
		return compiled.Kind() == reflect.Chan
	case *types.Map:
		return compiled.Kind() == reflect.Map
	case *types.Signature:
		return compiled.Kind() == reflect.Func
	case *types.Struct:
		return compiled.Kind() == reflect.Struct
	case *types.Interface:
		return compiled.Kind() == reflect.Interface
	}
	return false
}
