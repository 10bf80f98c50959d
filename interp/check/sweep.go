package check

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// A Reach is the set of objects that later cells can still mention: the live names, and the objects
// that their types contain.
type Reach struct {
	pkg     *types.Package
	objects map[types.Object]bool
	files   map[string]bool
	walk    *typeWalk
}

// File reports whether later cells can mention a declaration of the cell with this file name.
func (r *Reach) File(name string) bool { return r.files[name] }

// Object reports whether later cells can mention o. They can always mention objects of other packages.
func (r *Reach) Object(o types.Object) bool {
	if o == nil || o.Pkg() != r.pkg || r.objects[o] {
		return true
	}
	f, ok := o.(*types.Func)
	return ok && r.objects[f.Origin()]
}

// Type reports whether later cells can mention all named types in t.
func (r *Reach) Type(t types.Type) bool {
	reached := true
	w := &typeWalk{seen: map[types.Type]bool{}, shallow: true, visit: func(n *types.Named) {
		reached = reached && r.Object(n.Obj())
	}}
	w.walk(t)
	return reached
}

// Len returns the number of objects that later cells can mention.
func (r *Reach) Len() int { return len(r.objects) }

func (r *Reach) add(o types.Object) {
	if o == nil || r.objects[o] {
		return
	}
	r.objects[o] = true
	r.walk.walk(o.Type())
}

func (r *Reach) addFacts(facts *types.Info) {
	for o := range maps.Values(facts.Defs) {
		r.add(o)
	}
	for o := range maps.Values(facts.Uses) {
		r.add(o)
	}
	for tv := range maps.Values(facts.Types) {
		r.walk.walk(tv.Type)
	}
}

// Sweep removes the facts about definitions that later cells have replaced, and the line tables of
// their cells. It keeps the objects in more. No cell may be between Check and Release.
func (c *Checker) Sweep(more []types.Object) *Reach {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &Reach{pkg: c.pkg, objects: map[types.Object]bool{}, files: map[string]bool{}}
	r.walk = &typeWalk{seen: map[types.Type]bool{}, visit: func(n *types.Named) {
		r.objects[n.Obj()] = true
		for _, m := range *methodsOf(n.Origin()) {
			if m != nil {
				r.objects[m] = true
			}
		}
	}}
	for _, o := range c.live {
		r.add(o)
	}
	for _, o := range c.hidden {
		r.add(o) // declarations still use them
	}
	for _, o := range more {
		r.add(o)
	}
	// Also the objects in the bodies of generic functions.
	bodies := map[*types.Func]bool{}
	for again := true; again; {
		again = false
		for f, facts := range c.generics {
			if r.objects[f] && !bodies[f] {
				bodies[f], again = true, true
				r.addFacts(facts)
			}
		}
	}
	for f, facts := range c.generics {
		if !r.objects[f] {
			forgetFacts(c.info, facts)
			delete(c.generics, f)
		}
	}
	c.removeFiles(r)
	current := map[*declaration]bool{}
	for d := range maps.Values(c.declarations) {
		current[d] = true
	}
	clear(c.users)
	clear(c.importers)
	for d := range current {
		c.noteUses(d)
	}
	maps.DeleteFunc(c.wasBroken, func(d *declaration, _ bool) bool { return !current[d] })
	return r
}

// removeFiles removes the line tables of cells without remaining objects.
func (c *Checker) removeFiles(r *Reach) {
	var positions []token.Pos
	for o := range r.objects {
		if o.Pos().IsValid() {
			positions = append(positions, o.Pos())
			r.files[c.fset.Position(o.Pos()).Filename] = true
		}
	}
	slices.Sort(positions)
	c.files = slices.DeleteFunc(c.files, func(f *token.File) bool {
		i, _ := slices.BinarySearch(positions, token.Pos(f.Base()))
		if i < len(positions) && int(positions[i]) <= f.Base()+f.Size() {
			return false
		}
		c.fset.RemoveFile(f)
		return true
	})
}
