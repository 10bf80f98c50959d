package check

import (
	"context"
	"go/token"
	"go/types"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Checker holds the definitions of earlier cells.
type Checker struct {
	importer types.Importer
	fset     *token.FileSet
	guess    func(name string) []string
	packages func() []string // names of the packages for which guess finds a path
	refuse   func(path, name string) string
	inUse    func() []types.Type // other types that are in use; may be nil
	endCell  string              // see Return

	mu     sync.Mutex // guards all fields below, and the scope of pkg
	pkg    *types.Package
	info   *types.Info
	live   map[string]types.Object    // package-level names of committed cells
	hidden map[string]*types.TypeName // types that a live variable hides
	// redefined maps types that more than one cell has defined to the number of the last
	// such cell.
	redefined map[string]int
	// fromPackage are the live variables in whose definition the name meant a package.
	fromPackage map[string]bool
	// endedBefore maps undefined names to the cell that has ended before it defined a variable of that name, see undefine.go.
	endedBefore map[string]int
	imports     map[string]string // package name to import path, of committed cells
	dots        []string          // paths of dot imports of committed cells
	// declarations are the live declarations by key: a name, or "T.M" for a method.
	declarations map[string]*declaration
	// users maps a key to the declarations that use it. Some may no longer be live.
	users map[string]map[*declaration]bool
	// importers maps the path of a package of a module to the declarations that mention it. Some may no longer be live.
	importers map[string]map[*declaration]bool
	// wasBroken are the declarations whose compiled form does not match their text.
	wasBroken map[*declaration]bool
	// generics has the facts about the generic functions and methods of committed
	// cells, which later cells may instantiate.
	generics map[*types.Func]*types.Info
	shares   map[string][]share // variables that share memory with others, see effects.go
	files    []*token.File      // of committed cells
	seed     maphash.Seed
	noted    map[noteKey]bool
}

// An Option configures a new Checker.
type Option func(*Checker)

// Guess sets a function that returns the import paths of packages with a name, best first.
// The Checker uses it for qualifiers that no import declares. Without it, cells must import
// all packages explicitly.
func Guess(paths func(name string) []string) Option {
	return func(c *Checker) { c.guess = paths }
}

// PackageNames sets a function that returns the names of packages that a cell can use
// without an import. The Checker suggests them for misspelled names.
func PackageNames(names func() []string) Option {
	return func(c *Checker) { c.packages = names }
}

// New returns a Checker for a new session. fset has the positions of cells and of the
// packages that importer loads.
func New(importer types.Importer, fset *token.FileSet, options ...Option) *Checker {
	c := &Checker{
		importer:     importer,
		fset:         fset,
		guess:        func(string) []string { return nil },
		packages:     func() []string { return nil },
		refuse:       func(string, string) string { return "" },
		pkg:          types.NewPackage("main", "main"),
		info:         newInfo(),
		live:         map[string]types.Object{},
		hidden:       map[string]*types.TypeName{},
		redefined:    map[string]int{},
		fromPackage:  map[string]bool{},
		endedBefore:  map[string]int{},
		imports:      map[string]string{},
		declarations: map[string]*declaration{},
		users:        map[string]map[*declaration]bool{},
		importers:    map[string]map[*declaration]bool{},
		wasBroken:    map[*declaration]bool{},
		generics:     map[*types.Func]*types.Info{},
		shares:       map[string][]share{},
		seed:         maphash.MakeSeed(),
		noted:        map[noteKey]bool{},
	}
	for _, o := range options {
		o(c)
	}
	return c
}

// Check checks a cell. The error is an [ErrorList], or that of ctx if it has ended; then
// nothing of the cell remains. Later cells do not see the result before Commit. A cell that
// is not committed must be discarded.
func (c *Checker) Check(ctx context.Context, number int, src string) (*Cell, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.check(ctx, number, src, newPlan())
}

// check is Check with a plan that may have carried declarations.
func (c *Checker) check(ctx context.Context, number int, src string, p *plan) (*Cell, error) {
	for {
		u, errs := parse(ctx, c.fset, number, src, p)
		if err := ctx.Err(); err != nil {
			if u != nil {
				c.fset.RemoveFile(u.token)
			}
			return nil, err
		}
		if errs != nil {
			return nil, errs.sorted(number)
		}
		if p.kept == nil {
			if p.kept = c.keep(u); len(p.kept) > 0 {
				c.fset.RemoveFile(u.token)
				continue
			}
		}
		a := c.attempt(ctx, u)
		var cell *Cell
		if ctx.Err() == nil {
			cell, errs = a.finish()
		}
		if err := ctx.Err(); err != nil {
			c.removeMethods(a.methods, a.info)
			c.fset.RemoveFile(u.token)
			return nil, err
		}
		// An error may only exist because the cell meets declarations that still use
		// what it redefines.
		more := a.dependants()
		if errs == nil && more == nil {
			a.merge()
			if !a.sketch {
				c.summarize(cell)
			}
			return cell, nil
		}
		c.removeMethods(a.methods, a.info)
		c.fset.RemoveFile(u.token)
		if more == nil && !a.blame(errs) {
			return nil, errs.sorted(number)
		}
		p.carried = append(p.carried, more...)
	}
}

// Commit makes the definitions of a cell live.
func (c *Checker) Commit(cell *Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cell.before = map[*types.Var]meaning{}
	for _, n := range cell.names {
		if v, ok := n.object.(*types.Var); ok && c.live[n.name] != n.object {
			cell.before[v] = c.meaning(n.name)
		}
	}
	forgotten := map[string]bool{}
	for name, path := range cell.imports {
		c.imports[name] = path
		forgotten[name] = true
	}
	c.dots = append(c.dots, cell.dots...)
	for _, n := range cell.names {
		if old := c.live[n.name]; old != nil && old != n.object {
			if _, isType := n.object.(*types.TypeName); isType {
				c.redefined[n.name] = cell.Number
			}
			forgotten[n.name] = true
		}
	}
	before := map[string]types.Object{}
	for name := range forgotten {
		before[name] = c.live[name]
	}
	c.forget(forgotten)
	for _, n := range cell.names {
		if old := before[n.name]; hides(n.object, old) {
			c.hide(n.name, old.(*types.TypeName))
		}
		if _, isType := n.object.(*types.TypeName); isType {
			delete(c.hidden, n.name)
		}
		c.live[n.name] = n.object
		delete(c.endedBefore, n.name)
		if cell.fromPackage[n.name] {
			c.fromPackage[n.name] = true
		} else {
			delete(c.fromPackage, n.name)
		}
	}
	for _, p := range cell.pieces {
		d := p.declaration
		if d == nil {
			continue
		}
		for _, key := range d.keys {
			c.declarations[key] = d
		}
		uses := c.mentions(p.node, cell.info)
		packages := modulesIn(p.node, cell.info)
		broken := cell.plan.broken[d] != nil
		if broken {
			maps.Copy(uses, d.uses)
			cell.keepPackages(packages, d)
		}
		d.uses, d.packages = uses, packages
		if !broken {
			d.qualifiers = qualifiers(p.node, cell.info)
		}
		c.noteUses(d)
		c.setBroken(d, broken)
	}
	for d := range cell.plan.dropped {
		cell.keepPackages(d.packages, d)
		c.setBroken(d, true)
	}
	releaseScopes(cell.info)
	c.files = append(c.files, cell.file)
	if cell.Summary != nil {
		for name, list := range cell.Summary.shares {
			put(c.shares, name, list, len(list) > 0)
		}
	}
	c.setNotes(cell)
}

func (c *Checker) noteUses(d *declaration) {
	for use := range d.uses {
		if c.users[use] == nil {
			c.users[use] = map[*declaration]bool{}
		}
		c.users[use][d] = true
	}
	for path := range d.packages {
		if c.importers[path] == nil {
			c.importers[path] = map[*declaration]bool{}
		}
		c.importers[path][d] = true
	}
}

// isLive reports whether one of the keys of d still refers to d.
func (c *Checker) isLive(d *declaration) bool {
	return slices.ContainsFunc(d.keys, func(key string) bool { return c.declarations[key] == d })
}

// forget removes names, and the methods of types with these names.
func (c *Checker) forget(names map[string]bool) {
	hasType := false
	for name := range names {
		_, isType := c.live[name].(*types.TypeName)
		hasType = hasType || isType
		delete(c.live, name)
		delete(c.shares, name)
		delete(c.declarations, name)
	}
	if !hasType {
		return
	}
	for key := range c.declarations {
		if receiver, _, method := strings.Cut(key, "."); method && names[receiver] {
			delete(c.declarations, key)
		}
	}
}

func (c *Checker) setBroken(d *declaration, broken bool) {
	if broken {
		c.wasBroken[d] = true
	} else {
		delete(c.wasBroken, d)
	}
}

// Discard removes a cell that has been checked and will not be committed.
func (c *Checker) Discard(cell *Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeMethods(cell.methods, cell.info)
	forgetFacts(c.info, cell.info)
	c.fset.RemoveFile(cell.file)
}

// Info returns the facts about the nodes of every cell.
func (c *Checker) Info() *types.Info { return c.info }

// Package returns the package to which all cells belong.
func (c *Checker) Package() *types.Package { return c.pkg }

// Release removes the facts about a committed cell after it has been lowered and run. It
// keeps those about generic functions and methods, which are lowered again for other type
// arguments.
func (c *Checker) Release(cell *Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	forgetFacts(c.info, cell.info)
	for _, f := range cell.Funcs {
		o, ok := cell.info.Defs[f.Name].(*types.Func)
		if !ok || !isGeneric(o) {
			continue
		}
		facts := factsWithin(cell.info, f)
		addFacts(c.info, facts)
		c.generics[o] = facts
	}
	cell.Body, cell.body, cell.info = nil, nil, nil
}

// isGeneric reports whether f, or the receiver type of f, has type parameters.
func isGeneric(f *types.Func) bool {
	return f.Signature().TypeParams().Len() > 0 || f.Signature().RecvTypeParams().Len() > 0
}
