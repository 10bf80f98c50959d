package rt

import (
	"go/types"
	"weak"

	"github.com/quernlab/quern/interp/typeparts"
)

// releasedType is a type that no later cell can mention. Its descriptor lives as long as a
// value of the type, or code that creates one.
type releasedType struct {
	typ        types.Type
	descriptor weak.Pointer[Type]
}

// Sweep releases the descriptors of types for which mentioned returns false, because
// cells have replaced them. Only values and code that use such a type keep its descriptor
// alive.
func (r *Registry) Sweep(mentioned func(types.Type) bool) {
	r.release(mentioned)
	r.declared.sweep(mentioned) // without r.mu, which makeType locks after declared.mu
}

// release releases the descriptors.
func (r *Registry) release(mentioned func(types.Type) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var alive []*Type
	for id, d := range r.live {
		if mentioned(d.typ) {
			continue
		}
		alive = append(alive, d)
		delete(r.live, id)
	}
	for id, l := range r.released {
		if d := l.descriptor.Value(); d != nil {
			alive = append(alive, d)
			continue
		}
		delete(r.released, id)
		if r.descriptors.At(l.typ) == any(id) {
			r.descriptors.Delete(l.typ)
		}
	}
	for _, d := range alive {
		r.released[d.id] = releasedType{d.typ, weak.Make(d)}
	}
	for _, d := range alive {
		d.holds = r.components(d)
		d.parts.Store(nil)
		if set := d.set.Load(); set != nil {
			d.set.Store(&methodSet{declared: set.declared})
		}
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
	r.implements.Clear() // its keys may be types that are released
}

// components returns the descriptors, with their methods, of the named types that a value
// of d contains, and of pointers to them. The caller holds r.mu.
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
		case *types.Signature: // a value of it contains no values of its parameters
		case *types.Struct:
			add(t)
			add(types.NewPointer(t))
			typeparts.All(t, walk)
		default:
			typeparts.All(t, walk)
		}
	}
	walk(d.typ)
	return list
}

// sweep removes the created types for which mentioned returns false. They are created
// again when a value is encoded.
func (t *declaredTypes) sweep(mentioned func(types.Type) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Clear()
	t.builder.Sweep(mentioned)
}
