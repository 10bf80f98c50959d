package programs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A Program is a checked Go program of one file.
type Program struct {
	source  string
	fset    *token.FileSet
	file    *ast.File
	info    *types.Info
	imports []string
	decls   []*declaration // without func main
	main    *ast.FuncDecl
}

// Parse parses and type-checks a program. The importer must find the packages that the
// program imports.
func Parse(name, source string, importer types.Importer, fset *token.FileSet) (*Program, error) {
	p := &Program{source: source, fset: fset, info: &types.Info{
		Types:     map[ast.Expr]types.TypeAndValue{},
		Uses:      map[*ast.Ident]types.Object{},
		Defs:      map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{},
	}}
	var err error
	if p.file, err = parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	config := types.Config{Importer: importer}
	if _, err := config.Check("main", fset, []*ast.File{p.file}, p.info); err != nil {
		return nil, err
	}
	for _, d := range p.file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				p.imports = append(p.imports, p.text(d))
				continue
			}
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "main" {
				p.main = d
				continue
			}
		}
		p.decls = append(p.decls, &declaration{node: d})
	}
	if p.main == nil {
		return nil, fmt.Errorf("%s: no function main", name)
	}
	return p, nil
}

// text returns the source of a node.
func (p *Program) text(n ast.Node) string {
	return p.source[p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset]
}

// A Split is a program as a sequence of cells, which must print the same output.
type Split struct {
	Name  string
	Cells []string
}

// Splits returns several splits of the program. The statements of main become statements
// of cells only where that does not change their meaning: not if main has a return
// statement, and not in separate cells if it has deferred calls or labels.
func (p *Program) Splits() []Split {
	imports := strings.Join(p.imports, "\n")
	var all []string
	for _, d := range p.decls {
		all = append(all, p.text(d.node))
	}
	decls := strings.Join(all, "\n\n")
	each := append([]string{imports}, p.inOrder()...)
	main := p.text(p.main)
	splits := []Split{
		{"pasted", []string{p.source}},
	}
	if p.returns() {
		return append(splits, Split{"declarations", append(each, main)})
	}
	body := p.source[p.fset.Position(p.main.Body.Lbrace).Offset+1:p.fset.Position(p.main.Body.Rbrace).Offset] + "\n;"
	splits = append(splits,
		Split{"one", []string{imports + "\n" + decls + "\n" + body}},
		Split{"three", []string{imports, decls, body}},
		Split{"declarations", append(each, body)},
	)
	if p.separable() {
		cells := []string{imports + "\n" + decls}
		for _, s := range p.main.Body.List {
			cells = append(cells, p.text(s)+"\n;")
		}
		splits = append(splits, Split{"statements", cells})
	}
	return splits
}

// returns reports whether main has a return statement of its own.
func (p *Program) returns() (found bool) {
	ast.Inspect(p.main.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		}
		return !found
	})
	return found
}

// separable reports whether each statement of main may be a cell of its own.
func (p *Program) separable() bool {
	found := false
	for _, s := range p.main.Body.List {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt:
				found = true
			case *ast.BranchStmt:
				found = found || n.Tok == token.GOTO
			}
			return !found
		})
	}
	return !found
}

// A declaration is a declaration of the program with those that it depends on.
type declaration struct {
	node       ast.Decl
	needs      []*declaration
	index, low int // of Tarjan's algorithm; index 0: not visited
	onStack    bool
	methodOf   types.Object
}

// inOrder returns each declaration as a cell, after the declarations that it depends on.
// Declarations that depend on each other share a cell.
func (p *Program) inOrder() []string {
	p.link()
	var cells []string
	var stack []*declaration
	count := 0
	var visit func(d *declaration)
	visit = func(d *declaration) {
		count++
		d.index, d.low, d.onStack = count, count, true
		stack = append(stack, d)
		for _, n := range d.needs {
			if n.index == 0 {
				visit(n)
				d.low = min(d.low, n.low)
			} else if n.onStack {
				d.low = min(d.low, n.index)
			}
		}
		if d.low != d.index {
			return
		}
		at := slices.Index(stack, d)
		group := slices.Clone(stack[at:])
		stack = stack[:at]
		slices.SortFunc(group, func(a, b *declaration) int { return int(a.node.Pos() - b.node.Pos()) })
		var texts []string
		for _, g := range group {
			g.onStack = false
			texts = append(texts, p.text(g.node))
		}
		cells = append(cells, strings.Join(texts, "\n"))
	}
	for _, d := range p.decls {
		if d.index == 0 {
			visit(d)
		}
	}
	return cells
}

// link finds the declarations that each declaration depends on: the objects that it names,
// and the methods of the types of its expressions, since such a type may have to implement
// an interface.
func (p *Program) link() {
	of := map[types.Object]*declaration{}
	methods := map[types.Object][]*declaration{} // by the type name
	for _, d := range p.decls {
		switch n := d.node.(type) {
		case *ast.FuncDecl:
			o := p.info.Defs[n.Name]
			of[o] = d
			if n.Recv != nil {
				d.methodOf = named(o.(*types.Func).Signature().Recv().Type())
				methods[d.methodOf] = append(methods[d.methodOf], d)
			}
		case *ast.GenDecl:
			for _, s := range n.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					of[p.info.Defs[s.Name]] = d
				case *ast.ValueSpec:
					for _, name := range s.Names {
						of[p.info.Defs[name]] = d
					}
				}
			}
		}
	}
	for _, d := range p.decls {
		seen := map[*declaration]bool{d: true}
		need := func(ds ...*declaration) {
			for _, n := range ds {
				if n != nil && !seen[n] {
					seen[n] = true
					d.needs = append(d.needs, n)
				}
			}
		}
		general, _ := d.node.(*ast.GenDecl)
		isType := general != nil && general.Tok == token.TYPE
		ast.Inspect(d.node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				switch o := p.info.Uses[id].(type) {
				case *types.Func:
					need(of[o.Origin()])
				case nil:
				default:
					need(of[o])
				}
				if i, ok := p.info.Instances[id]; ok {
					for t := range i.TypeArgs.Types() {
						need(methods[named(t)]...)
					}
				}
			}
			if e, ok := n.(ast.Expr); ok && !isType {
				if o := named(p.info.Types[e].Type); o != nil && o != d.methodOf {
					need(methods[o]...)
				}
			}
			return true
		})
	}
}

// named returns the name of the type t or *t, or nil.
func named(t types.Type) types.Object {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}
