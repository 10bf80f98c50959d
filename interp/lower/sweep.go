package lower

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// Reach is the set of objects that later cells can still mention; see check.Reach.
type Reach interface {
	Object(types.Object) bool
	Type(types.Type) bool
}

// Roots returns objects that a later cell may replace although no cell can mention them: the latest functions of their
// names and signatures.
func (p *Program) Roots() []types.Object {
	var roots []types.Object
	for d, list := range p.versions {
		for _, v := range list {
			if d.receiver == nil {
				roots = append(roots, v.object)
			}
		}
	}
	return roots
}

// Sweep removes definitions that later cells have replaced. Compiled code itself keeps alive what it uses. No
// unit may be pending.
func (p *Program) Sweep(reach Reach) {
	gone := func(o types.Object) bool { return !reach.Object(o) }
	maps.DeleteFunc(p.names, func(o types.Object, _ string) bool { return gone(o) })
	maps.DeleteFunc(p.exposed, func(o types.Object, _ bool) bool { return gone(o) })
	for key, args := range p.arguments {
		if reach.Object(key.object) && !slices.ContainsFunc(args, func(t types.Type) bool { return !reach.Type(t) }) {
			continue
		}
		delete(p.instances, key)
		delete(p.arguments, key)
		delete(p.public, key)
		p.machine.Forget(key)
	}
	maps.DeleteFunc(p.generics, func(o types.Object, _ *ast.FuncDecl) bool { return gone(o) })
	maps.DeleteFunc(p.methods, func(o *types.TypeName, _ *methods) bool { return gone(o) })
	maps.DeleteFunc(p.versions, func(d declaration, _ []version) bool { return d.receiver != nil && gone(d.receiver) })
	for o, list := range p.existing {
		list = slices.DeleteFunc(slices.Clone(list), func(n *types.Named) bool { return !reach.Type(n) })
		if gone(o) || len(list) == 0 {
			delete(p.existing, o)
		} else {
			p.existing[o] = list
		}
	}
	p.layout.Sweep(reach.Type)
	p.machine.Sweep(func(key any) bool {
		o, ok := key.(types.Object)
		return ok && gone(o)
	})
}

// Groups returns the groups of functions that a later cell may declare again.
func (p *Program) Groups() map[string]bool {
	groups := map[string]bool{}
	for _, list := range p.versions {
		for _, v := range list {
			groups[v.group] = true
		}
	}
	return groups
}

// Names returns the names of all definitions, and of the types of the variables, as symbols of the package TypesPath.
func (p *Program) Names() map[string]bool {
	known := map[string]bool{}
	for o, name := range p.names {
		known[name] = true
		if v, ok := o.(*types.Var); ok {
			known[p.typeName(v.Type())] = true
		}
	}
	for name := range maps.Values(p.instances) {
		known[name] = true
	}
	return known
}
