package source

import (
	"fmt"
	"go/ast"
	"go/types"
)

// reach finds the declarations that code uses, directly or through other declarations.
type reach struct {
	loader  *Loader
	parts   map[*loadedPackage]*Part
	objects map[types.Object]bool // that have been reached
	now     map[types.Object]bool // functions that are needed with their bodies; see canBeLater
	whole   bool                  // all functions are needed with their bodies, to find out whether some are missing
	types   map[types.Type]bool   // that have been reached
	// converted are types whose values may be in an interface.
	converted    map[types.Type]bool
	instantiated map[types.Type]bool // type arguments
	queue        []func()
}

func newReach(l *Loader) *reach {
	return &reach{loader: l, parts: map[*loadedPackage]*Part{}, objects: map[types.Object]bool{}, now: map[types.Object]bool{}, types: map[types.Type]bool{},
		converted: map[types.Type]bool{}, instantiated: map[types.Type]bool{}}
}

// run finds the declarations that those found so far use, and returns the parts.
func (r *reach) run() (list []*Part) {
	for len(r.queue) > 0 {
		next := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		next()
	}
	for _, p := range r.loader.order {
		if part := r.parts[p]; part != nil {
			part.finish()
			list = append(list, part)
		}
	}
	return list
}

// part returns the part of a package, and adds it to the needed parts.
func (r *reach) part(p *loadedPackage) *Part {
	part := r.parts[p]
	if part == nil {
		part = &Part{Path: p.path, Types: p.types, First: p.first(), Info: p.info, Tables: p.tables, Replaced: r.loader.loaded[p.path] != p,
			of: p, chosen: map[*types.Initializer]bool{}}
		r.parts[p] = part
		if !p.begun {
			r.queue = append(r.queue, func() { r.begin(part) })
		}
	}
	return part
}

// begin adds what runs when a package is imported for the first time, and the packages that it
// imports.
func (r *reach) begin(part *Part) {
	p := part.of
	for _, pkg := range p.types.Imports() {
		if dependency := r.loader.packages[pkg]; dependency != nil && !dependency.begun {
			r.part(dependency)
		}
	}
	part.Inits = p.inits
	for _, s := range p.inits {
		r.node(s, p.info, part)
	}
	for _, init := range p.info.InitOrder {
		if !canWait(p, init) {
			r.initializer(p, init)
		}
	}
}

// initializer adds the initializer of one or several variables.
func (r *reach) initializer(p *loadedPackage, init *types.Initializer) {
	part := r.part(p)
	if part.chosen[init] {
		return
	}
	part.chosen[init] = true
	for _, v := range init.Lhs {
		r.object(v)
	}
	r.node(init.Rhs, p.info, part)
	r.assign(init, p.info)
}

// assign adds the types that the assignment of an initializer converts.
func (r *reach) assign(init *types.Initializer, info *types.Info) {
	to := make([]types.Type, len(init.Lhs))
	for i, v := range init.Lhs {
		to[i] = v.Type()
	}
	c := &conversions{info: info, found: r.convert}
	c.values(to, []ast.Expr{init.Rhs})
}

// object adds the declaration of an object if that belongs to a loaded package.
func (r *reach) object(o types.Object) {
	switch x := o.(type) {
	case *types.Func:
		o = x.Origin()
	case *types.Var:
		o = x.Origin()
	case *types.TypeName, *types.Const:
	default:
		return
	}
	if r.objects[o] || r.whole && r.loader.complete[o] {
		return
	}
	r.objects[o] = true
	r.typ(o.Type())
	p := r.loader.packages[o.Pkg()]
	if p == nil {
		return
	}
	d, ok := p.waiting[o]
	if !ok {
		return
	}
	part := r.part(p)
	if reason, ok := p.missing[o.Name()]; ok && part.Missing == nil && o.Parent() == p.types.Scope() {
		part.Missing = fmt.Errorf("%s: %s", r.loader.fset.Position(o.Pos()), reason)
	}
	if !r.now[o] && r.canBeLater(p, o, d) {
		r.later(part, o, d)
		return
	}
	part.objects = append(part.objects, o)
	r.queue = append(r.queue, func() {
		switch {
		case d.function != nil:
			if err := p.checkBody(r.loader.fset, d.function); err != nil {
				part.Missing = err
				return
			}
			r.node(d.function, p.info, part)
		case d.spec != nil:
			r.node(d.spec, p.info, part)
			if d.spec.TypeParams != nil { // instances have their methods at once
				r.convert(o.Type())
			}
		case d.init != nil:
			r.initializer(p, d.init)
		}
	})
}

// typ adds the named types that a type consists of. Their declarations add what those consist
// of.
func (r *reach) typ(t types.Type) {
	if t == nil || r.types[t] {
		return
	}
	r.types[t] = true
	switch t := t.(type) {
	case *types.Alias:
		r.object(t.Obj())
		for a := range t.TypeArgs().Types() {
			r.typ(a)
		}
		r.typ(types.Unalias(t))
	case *types.Named:
		r.object(t.Obj())
		if t.TypeArgs().Len() > 0 { // generic code may convert the arguments
			r.convert(t)
		}
	case *types.Pointer:
		r.typ(t.Elem())
	case *types.Slice:
		r.typ(t.Elem())
	case *types.Array:
		r.typ(t.Elem())
	case *types.Chan:
		r.typ(t.Elem())
	case *types.Map:
		r.typ(t.Key())
		r.typ(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			r.typ(v.Type())
		}
	case *types.Signature:
		r.typ(t.Params())
		r.typ(t.Results())
		for p := range t.TypeParams().TypeParams() {
			r.typ(p)
		}
	case *types.Struct:
		for f := range t.Fields() {
			r.typ(f.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			r.typ(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			r.typ(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			r.typ(term.Type())
		}
	case *types.TypeParam:
		r.typ(t.Constraint())
	}
}

// node adds what a piece of syntax uses. The syntax belongs to part unless that is nil.
func (r *reach) node(n ast.Node, info *types.Info, part *Part) {
	if part != nil {
		part.Nodes = append(part.Nodes, n)
	}
	c := &conversions{info: info, found: r.convert}
	if part != nil {
		c.tables = part.of.tables
	}
	r.walk(n, c, part == nil)
}

// walk adds what n uses. cell reports whether n belongs to a cell and not to a part.
func (r *reach) walk(n ast.Node, c *conversions, cell bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				r.walk(n.Recv, c, cell)
			}
			r.walk(n.Name, c, cell)
			r.walk(n.Type, c, cell)
			r.body(c.info.Defs[n.Name].Type(), n.Body, c, cell)
			return false
		case *ast.FuncLit:
			r.walk(n.Type, c, cell)
			r.body(c.typeOf(n), n.Body, c, cell)
			return false
		case *ast.CompositeLit:
			if c.tables[n] { // its type is built of basic types
				return false
			}
		case *ast.TypeSpec:
			// Tables of their methods are made at once.
			if o := c.info.Defs[n.Name]; o != nil && (cell || o.Parent() != o.Pkg().Scope()) {
				r.convert(o.Type())
			}
		case *ast.Ident:
			r.object(c.info.Uses[n])
			if o := c.info.Defs[n]; o != nil {
				r.typ(o.Type())
			}
			for t := range c.info.Instances[n].TypeArgs.Types() {
				r.instantiate(t)
			}
		case ast.Expr:
			if cell {
				r.typ(c.info.Types[n].Type)
			}
		}
		c.node(n)
		return true
	})
}

// body walks the body of a function of type t.
func (r *reach) body(t types.Type, body *ast.BlockStmt, c *conversions, cell bool) {
	if body == nil {
		return
	}
	results := c.results
	c.results = nil
	if sig, ok := t.(*types.Signature); ok {
		c.results = sig.Results()
	}
	r.walk(body, c, cell)
	c.results = results
}
