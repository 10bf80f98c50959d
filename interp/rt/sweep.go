package rt

import (
	"go/types"
	"weak"
)

// leftType is a type that no later cell can mention. Its descriptor lives as long as
// a value of the type, or code that makes one.
type leftType struct {
	typ        types.Type
	descriptor weak.Pointer[Type]
}

// Sweep leaves the types for which mentioned does not hold, since cells have replaced
// them, to the values and the code that still have them. It returns the identifiers
// of those that it has left now.
func (r *Registry) Sweep(mentioned func(types.Type) bool) map[int]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	dead := map[int]bool{}
	var alive []*Type
	for id, d := range r.kept {
		d.implements.Clear() // it may have interfaces that are left
		if mentioned(d.typ) {
			continue
		}
		dead[id] = true
		alive = append(alive, d)
		delete(r.kept, id)
	}
	for id, l := range r.left {
		if d := l.descriptor.Value(); d != nil {
			alive = append(alive, d)
			continue
		}
		delete(r.left, id)
		if r.descriptors.At(l.typ) == any(id) {
			r.descriptors.Delete(l.typ)
		}
	}
	for _, d := range alive {
		r.left[d.id] = leftType{d.typ, weak.Make(d)}
	}
	for _, d := range alive {
		d.implements.Clear()
		d.holds = r.components(d)
	}
	for name, list := range r.embedding {
		var left []int
		for _, id := range list {
			if r.find(id) != nil {
				left = append(left, id)
			}
		}
		if r.embedding[name] = left; left == nil {
			delete(r.embedding, name)
		}
	}
	r.byType.Clear()
	r.compiled.Clear()
	r.fields.Clear()
	r.declared.sweep(mentioned)
	return dead
}

// components returns the descriptors, with their methods, of the named types that a value
// of d is made of and of pointers to them. The registry's lock is held.
func (r *Registry) components(d *Type) []*Type {
	var list []*Type
	add := func(t types.Type) {
		if c := r.described(t); c != nil && c != d {
			list = append(list, c)
		}
	}
	seen := map[types.Type]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		t = types.Unalias(t)
		if seen[t] || !r.Mentions(t) {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Named:
			add(t)
			add(types.NewPointer(t))
			walk(t.Underlying())
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Chan:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			add(t)
			add(types.NewPointer(t))
			for f := range t.Fields() {
				walk(f.Type())
			}
		}
	}
	walk(d.typ)
	return list
}

// sweep forgets the types made of those for which mentioned does not hold. They are
// made again when a value of one is encoded.
func (t *declaredTypes) sweep(mentioned func(types.Type) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Clear()
	t.builder.Sweep(mentioned)
}
