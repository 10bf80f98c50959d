package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/facts"
)

// A declaration is a function, a method, or a group of types or constants of a committed
// cell. It is stored as text so that it can be checked again when a name that it uses is
// redefined.
type declaration struct {
	keys         []string // names, or "T.M" for a method
	cell         int
	program      bool // the cell has a package clause
	line, column int
	text         string                    // without doc comment
	body         int                       // offset of the opening brace of a function in text, or -1
	doc          string                    // text of the preceding comment
	uses         map[string]bool           // keys of the declarations of the session that it mentions
	packages     map[string]*types.Package // packages of modules that it mentions, by import path
	qualifiers   map[string]string         // packages that it mentions: name to import path
	isType       bool
	changes      []bool // which parameters a function may change, see effects.go; the first is the receiver
}

// receiver returns the type that a method belongs to, or "".
func (d *declaration) receiver() string {
	if t, _, ok := strings.Cut(d.keys[0], "."); ok {
		return t
	}
	return ""
}

// describe sets the fields that follow from the syntax.
func (d *declaration) describe(fset *token.FileSet, decl ast.Decl) {
	d.body = -1
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		key := decl.Name.Name
		if decl.Recv != nil {
			base, _ := facts.ReceiverBase(decl)
			key = base + "." + key
		}
		d.keys = []string{key}
		if decl.Body != nil {
			d.body = fset.PositionFor(decl.Body.Lbrace, false).Offset - fset.PositionFor(decl.Pos(), false).Offset
		}
	case *ast.GenDecl:
		d.isType = decl.Tok == token.TYPE
		for _, s := range decl.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				d.keys = append(d.keys, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					d.keys = append(d.keys, n.Name)
				}
			}
		}
	}
}

// mentions returns the package-level names and the methods of the session that decl uses.
func (c *Checker) mentions(decl ast.Node, info *types.Info) map[string]bool {
	uses := map[string]bool{}
	ast.Inspect(decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := info.Uses[id]
		if o == nil || o.Pkg() != c.pkg {
			return true
		}
		if t := c.hidden[o.Name()]; t != nil && o == t {
			uses[o.Name()+hiddenSuffix] = true
		} else if o.Parent() == c.pkg.Scope() {
			uses[o.Name()] = true
		} else if f, ok := o.(*types.Func); ok {
			if key := methodKey(f); key != "" {
				uses[key] = true
			}
		}
		return true
	})
	return uses
}

// methodKey returns "T.M" for a method of a named type, or "".
func methodKey(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return ""
}

// What a cell defines, uses and may change, as far as its syntax and types show it. Package stale needs it.

// Effects are the names of the session that code uses, and the variables that it may change, each sorted. The names
// are those of variables, functions, types, constants and imports, "T.M" of a method, and "T.*" of all methods of a type, for a
// value in an interface. What the functions among them use and change is not included.
type Effects struct {
	Uses, Changes []string
}

// A Summary is what a cell defines, uses and may change. The effects are those of its statements.
type Summary struct {
	Effects
	Variables []string // that it defines, in the order of Vars
	Declared  []Declared
	Imports   map[string]string // that the user wrote: name to path
	// shares are the variables that share memory with others, by the name of a variable that the cell sets.
	shares map[string][]share
}

// Declared is a function, method, type, constant, or a variable whose value is a function literal, of a cell.
type Declared struct {
	Key  string // a name, or "T.M"
	Text string // of the declaration; empty for a variable
	// Effects are those of the body of a function, or of the other names that a declaration mentions. They are unknown if the
	// declaration repeats the live one word for word, or no longer compiles.
	Effects
	Known   bool // the effects are known
	Carried bool // the declaration is that of an earlier cell
}

// summarize sets the summary of a cell.
func (c *Checker) summarize(cell *Cell) {
	s := &Summary{Imports: cell.imports}
	for _, v := range cell.Vars {
		s.Variables = append(s.Variables, v.Name())
	}
	own := map[string]*declaration{}
	for _, p := range cell.pieces {
		if p.declaration != nil {
			for _, key := range p.declaration.keys {
				own[key] = p.declaration
			}
		}
	}
	for again := true; again; { // until it is known what functions that call one another change
		again, s.Declared = false, nil
		for _, p := range cell.pieces {
			d := p.declaration
			if d == nil {
				continue
			}
			declared := Declared{Text: d.text, Known: cell.plan.broken[d] == nil, Carried: p.carried}
			if declared.Known {
				f := c.newEffects(cell, own)
				f.declaration(p.node)
				again = again || !slices.Equal(d.changes, f.changed)
				d.changes, declared.Effects = f.changed, f.effects()
			}
			for _, declared.Key = range d.keys {
				s.Declared = append(s.Declared, declared)
			}
		}
	}
	for key := range cell.plan.keptKeys {
		if d := c.declarations[key]; d != nil {
			s.Declared = append(s.Declared, Declared{Key: key, Text: d.text})
		}
	}
	f := c.newEffects(cell, own)
	f.shares = map[string][]share{}
	for _, p := range cell.pieces {
		if g, ok := p.node.(*ast.GenDecl); ok && p.declaration == nil {
			f.statement(&ast.DeclStmt{Decl: g})
		}
	}
	for _, p := range cell.pieces {
		if fn, ok := p.node.(*ast.FuncDecl); ok && p.declaration == nil { // func init
			f.visit(fn.Body)
		}
	}
	for _, st := range cell.Body {
		f.statement(st)
	}
	for _, e := range cell.Result {
		f.convert(nil, e)
	}
	s.Effects, s.shares = f.effects(), f.shares
	for name, e := range f.literals {
		s.Declared = append(s.Declared, Declared{Key: name, Effects: e, Known: true})
	}
	slices.SortStableFunc(s.Declared, func(x, y Declared) int { return strings.Compare(x.Key, y.Key) })
	cell.Summary = s
}
