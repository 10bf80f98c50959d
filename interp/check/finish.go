package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"strconv"
	"strings"
)

// A name is a package-level identifier of a cell with its object.
type name struct {
	name   string
	object types.Object
}

// finish returns the Cell of a successful attempt.
func (a *attempt) finish() (*Cell, ErrorList) {
	a.dropInitCycles()
	if len(a.errs) == 0 {
		a.errs = append(a.errs, a.rejections()...)
		a.errs = append(a.errs, a.orderErrors()...)
	}
	a.reuseVariables()
	if len(a.errs) > 0 {
		return nil, a.errs
	}
	a.noteUndeclared()
	if !a.sketch {
		a.noteHiddenPackages()
	}
	cell := &Cell{
		Number: a.number, Source: a.src, Fset: a.fset, Package: a.pkg, Info: a.Checker.info,
		Body: a.hoisting.original, imports: map[string]string{}, info: a.info, file: a.token, body: a.body,
		pieces: a.pieces, plan: a.plan, methods: a.methods, fromPackage: a.definedFromPackage(), RunsMain: a.runsMain, Main: a.main, Program: a.program, noted: a.notes,
	}
	for _, s := range cell.Body {
		cell.ranges = append(cell.ranges, [2]token.Pos{s.Pos(), s.End()})
	}
	a.collect(cell)
	a.setResult(cell)
	a.unreadErrors(cell)
	a.lostErrors(cell)
	a.finishTimed(cell)
	for _, d := range a.plan.carried {
		if e := a.plan.dropped[d]; e != nil {
			a.broken(cell, d, e)
			continue
		}
		cell.Carried = append(cell.Carried, d.keys...)
		if e := a.plan.broken[d]; e != nil {
			a.broken(cell, d, e)
		}
	}
	return cell, nil
}

// broken records that a declaration no longer type-checks. It ignores declarations of an
// earlier program if the cell is a program itself.
func (a *attempt) broken(cell *Cell, d *declaration, e *Error) {
	if !a.program || !d.program {
		cell.Broken = append(cell.Broken, &Error{Pos: e.Pos, Msg: d.keys[0] + ": " + e.Msg})
	}
}

// dropInitCycles removes the errors of go/types about initialization cycles through variables
// that statements define. Those statements run in source order, which orderErrors checks.
func (a *attempt) dropInitCycles() {
	var kept ErrorList
	for _, e := range a.errs {
		if strings.HasPrefix(e.Msg, "initialization cycle") && a.hoistedInCycle(e.Msg) {
			continue
		}
		kept = append(kept, e)
	}
	a.errs = kept
}

// hoistedInCycle finds variables that statements define in "initialization cycle: x refers
// to itself" and in lines "x refers to y".
func (a *attempt) hoistedInCycle(msg string) bool {
	for _, line := range strings.Split(msg, "\n") {
		subject, _, ok := strings.Cut(line, " refers to ")
		if !ok {
			continue
		}
		words := strings.Fields(subject)
		if a.hoisting.names[words[len(words)-1]] != nil {
			return true
		}
	}
	return false
}

// reuseVariables replaces a new variable by the live one of the same name and type in all facts
// of this cell. A variable that contains a lock or a wait group is not replaced: goroutines of
// earlier cells may still unlock it or call Done.
func (a *attempt) reuseVariables() {
	again := map[types.Object]*types.Var{}
	for id, o := range a.info.Defs {
		v, ok := o.(*types.Var)
		if !ok || v.Parent() != a.pkg.Scope() {
			continue
		}
		if old, ok := a.live[id.Name].(*types.Var); ok && old != v && types.Identical(old.Type(), v.Type()) && !holdsLock(v.Type()) {
			again[v] = old
			a.info.Defs[id] = old
		}
	}
	if len(again) == 0 {
		return
	}
	for id, o := range a.info.Uses {
		if old := again[o]; old != nil {
			a.info.Uses[id] = old
		}
	}
	for _, init := range a.info.InitOrder {
		for i, v := range init.Lhs {
			if old := again[v]; old != nil {
				init.Lhs[i] = old
			}
		}
	}
}

// collect sets the lists of a cell from its file.
func (a *attempt) collect(cell *Cell) {
	for _, spec := range a.file.Imports {
		cell.Imports = append(cell.Imports, spec)
		a.collectImport(cell, spec)
	}
	cell.names = a.definitions()
	for _, n := range cell.names {
		if v, ok := n.object.(*types.Var); ok {
			cell.Vars = append(cell.Vars, v)
		}
	}
	for _, d := range a.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d != a.body {
				cell.Funcs = append(cell.Funcs, d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					cell.Types = append(cell.Types, s)
				}
			}
		}
	}
	for _, init := range a.info.InitOrder {
		if !a.inBody(init) {
			cell.Init = append(cell.Init, init)
		}
	}
	a.info.InitOrder = nil
}

// definitions returns the package-level definitions of the cell in source order.
func (a *attempt) definitions() []name {
	var list []name
	define := func(id *ast.Ident) {
		if o := a.info.Defs[id]; o != nil && id.Name != "_" && !isReserved(id.Name) {
			list = append(list, name{id.Name, o})
		}
	}
	for _, d := range a.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d != a.body && d.Recv == nil {
				define(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					define(s.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						define(n)
					}
				}
			}
		}
	}
	return list
}

// inBody reports whether an initializer was made from a statement.
func (a *attempt) inBody(init *types.Initializer) bool {
	body := a.body.Body
	return body.Pos() <= init.Rhs.Pos() && init.Rhs.Pos() < body.End()
}

func (a *attempt) collectImport(cell *Cell, spec *ast.ImportSpec) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil || spec.Pos() == token.NoPos {
		return
	}
	switch n := a.importName(spec); n {
	case "_", "":
	case ".":
		cell.dots = append(cell.dots, path)
	default:
		if n := strings.TrimSuffix(n, outerSuffix); a.hoisting.names[n] == nil {
			cell.imports[n] = path
		}
	}
}

// merge adds the facts about this cell to those of the session.
func (a *attempt) merge() { addFacts(a.Checker.info, a.info) }

// AddFacts adds the facts in info about nodes, which belong to other source than cells, to
// Info.
func (c *Checker) AddFacts(info *types.Info, nodes []ast.Node, tables map[*ast.CompositeLit]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			addFactsOf(c.info, info, n)
			literal, ok := n.(*ast.CompositeLit)
			return !ok || !tables[literal]
		})
	}
}

// addFactsOf adds the facts about one node. It looks only for those that go/types documents for the kind of node.
func addFactsOf(all, part *types.Info, n ast.Node) {
	if x, ok := n.(ast.Expr); ok {
		addFact(all.Types, part.Types, x)
	}
	switch n := n.(type) {
	case *ast.Ident:
		used, ok := part.Uses[n]
		if ok {
			all.Uses[n] = used
			addFact(all.Instances, part.Instances, n)
		}
		if _, typ := used.(*types.TypeName); typ || !ok { // an embedded field uses a name and defines it
			addFact(all.Defs, part.Defs, n)
		}
	case *ast.SelectorExpr:
		addFact(all.Selections, part.Selections, n)
	case *ast.CaseClause:
		addFact[ast.Node](all.Implicits, part.Implicits, n)
		addFact[ast.Node](all.Scopes, part.Scopes, n)
	case *ast.Field, *ast.ImportSpec:
		addFact(all.Implicits, part.Implicits, n)
	case *ast.File, *ast.FuncType, *ast.TypeSpec, *ast.BlockStmt, *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt,
		*ast.CommClause, *ast.ForStmt, *ast.RangeStmt:
		addFact(all.Scopes, part.Scopes, n)
	}
}

func addFact[K comparable, V any](all, part map[K]V, key K) {
	if v, ok := part[key]; ok {
		all[key] = v
	}
}

func addFacts(all, part *types.Info) {
	maps.Copy(all.Types, part.Types)
	maps.Copy(all.Instances, part.Instances)
	maps.Copy(all.Defs, part.Defs)
	maps.Copy(all.Uses, part.Uses)
	maps.Copy(all.Implicits, part.Implicits)
	maps.Copy(all.Selections, part.Selections)
	maps.Copy(all.Scopes, part.Scopes)
}

// forgetFacts removes the facts in part from all.
func forgetFacts(all, part *types.Info) {
	remove(all.Types, part.Types)
	remove(all.Instances, part.Instances)
	remove(all.Defs, part.Defs)
	remove(all.Uses, part.Uses)
	remove(all.Implicits, part.Implicits)
	remove(all.Selections, part.Selections)
	remove(all.Scopes, part.Scopes)
}

// factsWithin returns the facts about the nodes of a declaration.
func factsWithin(all *types.Info, d ast.Decl) *types.Info {
	within := func(n ast.Node) bool { return d.Pos() <= n.Pos() && n.Pos() < d.End() }
	part := newInfo()
	copyWithin(part.Types, all.Types, within)
	copyWithin(part.Instances, all.Instances, within)
	copyWithin(part.Defs, all.Defs, within)
	copyWithin(part.Uses, all.Uses, within)
	copyWithin(part.Implicits, all.Implicits, within)
	copyWithin(part.Selections, all.Selections, within)
	copyWithin(part.Scopes, all.Scopes, within)
	return part
}

func copyWithin[K interface {
	comparable
	ast.Node
}, V any](to, from map[K]V, within func(ast.Node) bool) {
	for k, v := range from {
		if within(k) {
			to[k] = v
		}
	}
}

func remove[K comparable, V any](from, keys map[K]V) {
	for k := range keys {
		delete(from, k)
	}
}
