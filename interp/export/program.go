package export

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/magic"
)

// A program is the exported form of a notebook.
type program struct {
	*notebook
	imports *imports
	taken   map[string]bool         // names that occur anywhere
	local   map[types.Object]bool   // variables that are local to the function of their cell
	names   map[types.Object]string // names of package-level objects
	first   map[types.Object]*cell  // the cell that first defines an object
	order   []types.Object          // keys of first, in the order of definition
	needs   helpers
}

func newProgram(n *notebook) *program {
	p := &program{
		notebook: n, taken: map[string]bool{}, local: map[types.Object]bool{},
		names: map[types.Object]string{}, first: map[types.Object]*cell{},
	}
	for _, c := range n.cells {
		for name := range identifiers(c.Source) {
			p.taken[name] = true
		}
	}
	p.imports = newImports(p)
	return p
}

func identifiers(src string) map[string]bool {
	names := map[string]bool{}
	text := []byte(src)
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, func(token.Position, string) {}, 0)
	for {
		switch _, tok, lit := s.Scan(); tok {
		case token.EOF:
			return names
		case token.IDENT:
			names[lit] = true
		}
	}
}

// fresh returns an unused name that begins with name.
func (p *program) fresh(name string) string {
	for try, i := name, 2; ; try, i = fmt.Sprintf("%s%d", name, i), i+1 {
		if !p.taken[try] && !token.IsKeyword(try) && types.Universe.Lookup(try) == nil && try != "main" && try != "init" {
			p.taken[try] = true
			return try
		}
	}
}

// prepare decides where each object is declared and what its name is. It returns the problems that prevent
// the export.
func (p *program) prepare() []Problem {
	p.findDefinitions()
	p.findLocals()
	problems := p.nameAll()
	problems = append(problems, p.unnameable()...)
	return append(problems, p.lateMethods()...)
}

// atPackageLevel reports whether an object belongs to the session, that is, is not local to a function.
func (p *program) atPackageLevel(o types.Object) bool {
	if o == nil || o.Pkg() != p.pkg || o.Parent() != p.pkg.Scope() {
		return false
	}
	f, ok := o.(*types.Func)
	return !ok || f.Signature().Recv() == nil
}

// sorted returns the offsets of the references of a cell between start and end, in order.
func (c *cell) sorted(start, end int) []int {
	var offsets []int
	for offset := range c.references {
		if start <= offset && offset < end {
			offsets = append(offsets, offset)
		}
	}
	slices.Sort(offsets)
	return offsets
}

func (p *program) findDefinitions() {
	for _, c := range p.cells {
		for _, offset := range c.sorted(0, len(c.Source)) {
			f := c.references[offset]
			if f.defines && f.name != "_" && p.atPackageLevel(f.object) && p.first[f.object] == nil {
				p.first[f.object] = c
				p.order = append(p.order, f.object)
			}
		}
	}
}

// nameAll gives each package-level object a name of its own.
func (p *program) nameAll() []Problem {
	var problems []Problem
	by := map[string]types.Object{"main": nil, "init": nil}
	for _, o := range p.order {
		if p.local[o] {
			continue
		}
		name := o.Name()
		before, used := by[name]
		builtin := types.Universe.Lookup(name) != nil
		_, isType := o.(*types.TypeName)
		_, wasType := before.(*types.TypeName)
		switch {
		case (isType || wasType) && used && before != nil:
			problems = append(problems, p.definitionProblem(o, fmt.Sprintf("redefines the type %s of cell %d, and a program would print one of the types under another name; rename it",
				name, p.first[before].number)))
		case isType && (used || builtin):
			problems = append(problems, p.definitionProblem(o, fmt.Sprintf("the type %s has the name of another declaration or a predeclared name: rename it", name)))
		case strings.HasPrefix(name, "initʹ"):
			name = p.fresh("initialize")
		case used || builtin:
			name = p.fresh(name + "2")
		}
		by[o.Name()] = o
		p.names[o] = name
	}
	p.names[p.ctx] = "ctx"
	for _, c := range p.cells {
		for _, f := range c.references {
			if f.name == magic.Name && p.names[f.object] == "" {
				p.names[f.object] = p.imports.safe("fmt", "fmt") + ".Println"
			}
		}
	}
	for _, name := range p.names {
		p.taken[name] = true
	}
	return problems
}

// definitionProblem returns a problem with a definition.
func (p *program) definitionProblem(o types.Object, reason string) Problem {
	c := p.first[o]
	for _, offset := range c.sorted(0, len(c.Source)) {
		if f := c.references[offset]; f.object == o && f.defines {
			return Problem{c.number, 1 + strings.Count(c.Source[:offset], "\n"), reason}
		}
	}
	return Problem{Cell: c.number, Reason: reason}
}

// isPackageName reports whether a package-level object has this name.
func (p *program) isPackageName(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(p.names)), name)
}

// unnameable returns the problems with package-level variables whose type the program cannot write, for
// example an unexported type of another package.
func (p *program) unnameable() []Problem {
	var problems []Problem
	for _, o := range p.order {
		v, ok := o.(*types.Var)
		if !ok || p.local[o] {
			continue
		}
		if t := p.hidden(v.Type(), map[types.Type]bool{}); t != "" {
			problems = append(problems, p.definitionProblem(o, fmt.Sprintf("other cells or functions use %s, but the program cannot name its type %s; convert it to a type that the program can name", v.Name(), t)))
		}
	}
	return problems
}

// hidden returns the part of a type that the program cannot write, or "".
func (p *program) hidden(t types.Type, seen map[types.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	of := func(o *types.TypeName, arguments *types.TypeList) string {
		switch {
		case o.Pkg() == nil:
		case o.Pkg() == p.pkg && o.Parent() != p.pkg.Scope(),
			o.Pkg() != p.pkg && (!o.Exported() || strings.Contains("/"+o.Pkg().Path()+"/", "/internal/")):
			return types.TypeString(t, (*types.Package).Name)
		}
		for a := range arguments.Types() {
			if h := p.hidden(a, seen); h != "" {
				return h
			}
		}
		return ""
	}
	switch t := t.(type) {
	case *types.Named:
		return of(t.Obj(), t.TypeArgs())
	case *types.Alias:
		return of(t.Obj(), t.TypeArgs())
	case *types.Pointer:
		return p.hidden(t.Elem(), seen)
	case *types.Slice:
		return p.hidden(t.Elem(), seen)
	case *types.Array:
		return p.hidden(t.Elem(), seen)
	case *types.Chan:
		return p.hidden(t.Elem(), seen)
	case *types.Map:
		if h := p.hidden(t.Key(), seen); h != "" {
			return h
		}
		return p.hidden(t.Elem(), seen)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if h := p.hidden(v.Type(), seen); h != "" {
					return h
				}
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() && f.Pkg() != p.pkg {
				return types.TypeString(t, (*types.Package).Name)
			}
			if h := p.hidden(f.Type(), seen); h != "" {
				return h
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if h := p.hidden(m.Type(), seen); h != "" {
				return h
			}
		}
	}
	return ""
}

// typeText returns a type in the notation of the program.
func (p *program) typeText(t types.Type) string {
	return types.TypeString(t, func(q *types.Package) string {
		if q == p.pkg {
			return ""
		}
		return p.imports.of(q.Path(), q.Name())
	})
}

// dropped reports whether a piece is a declaration that repeats an earlier one.
func (c *cell) dropped(p *piece) bool {
	var name *ast.Ident
	switch d := p.decl.(type) {
	case *ast.FuncDecl:
		name = d.Name
	case *ast.GenDecl:
		if d.Tok != token.TYPE || len(d.Specs) == 0 {
			return false
		}
		name = d.Specs[0].(*ast.TypeSpec).Name
	default:
		return false
	}
	return name.Name != "_" && !c.references[p.offset(name.Pos())].defines
}
