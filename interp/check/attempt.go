package check

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"runtime/debug"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// showName is the function to which the cell's result is passed for go/types.
const showName = "showʹ"

// sessionPath is the compiled package of the function for results.
const sessionPath = "quern/session"

// An attempt is one run of go/types over a unit.
type attempt struct {
	*Checker
	*unit
	info           *types.Info
	hoisting       *hoisting
	declared       map[string]bool // package-level names that the cell declares
	importNames    map[string]bool // names that its imports declare
	runsMain       bool            // the cell only runs its function main
	main           bool            // the cell calls main at its end, without a statement of the user
	notes          []note
	unusedVars     map[token.Pos]bool // positions of variable declarations that nothing reads
	unknown        []*ast.ImportSpec  // imports that failed
	result         ast.Expr           // X of the last statement, when it is an expression
	unused         bool               // go/types reported that a call as the last statement is unused
	originals      map[types.Object]types.Object
	renamed        []*ast.Ident      // by renameHidden
	marked         []*ast.Ident      // with packageSuffix
	hiddenPackages map[string]string // marked name to import path
	show           *types.Func       // the object of showName
	methods        []*addedMethod
	returns        []token.Pos            // return statements that end the cell
	timed          [][]ast.Stmt           // see timed.go
	timedLiterals  map[*ast.FuncLit]bool  // the functions around them
	timedUnused    map[*ast.ExprStmt]bool // calls of which go/types reported that their values are unused
	strict         bool                   // predeclared names have their meaning in Go, see importsCheck
	errs           ErrorList
}

func newInfo() *types.Info {
	return &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Instances:  map[*ast.Ident]types.Instance{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
	}
}

// attempt type-checks u in the scope of the session. It ends early if ctx does.
func (c *Checker) attempt(ctx context.Context, u *unit) *attempt {
	a := &attempt{Checker: c, unit: u, info: newInfo(), declared: map[string]bool{}, originals: map[types.Object]types.Object{}}
	a.noteStatements()
	a.nameInits()
	a.callMain()
	a.wrapTimed()
	a.errs = append(a.errs, u.controlErrors(c.fset)...)
	a.replaceReturns()
	a.hoisting = u.hoist(c.fset)
	a.errs = append(a.errs, a.hoisting.errs...)
	decls := append([]ast.Decl(nil), u.file.Decls[:len(u.file.Decls)-1]...)
	decls = append(decls, a.hoisting.decls...)
	u.file.Decls = append(decls, u.body)
	a.collectDeclared()
	a.noteRedefined()
	list := u.body.Body.List
	if len(list) > 0 {
		if s, ok := list[len(list)-1].(*ast.ExprStmt); ok {
			a.result = s.X
			if !a.isPlainCall(s.X) {
				list[len(list)-1] = &ast.ExprStmt{X: &ast.CallExpr{
					Fun: &ast.Ident{NamePos: s.Pos(), Name: showName}, Lparen: s.Pos(), Args: []ast.Expr{s.X}, Rparen: s.End()}}
			}
		}
	}
	a.renameHidden()
	a.hideNamedTypes()
	a.setZeroValues()
	a.laterMethods()
	a.strict = a.importsCheck()
	a.resolveImports()
	if !u.sketch {
		a.addMethods()
	}
	a.fillScope()
	a.run(ctx)
	a.hoisting.restore(a.info, a.originals)
	a.restoreHidden()
	a.restorePackages()
	a.restoreMethods()
	return a
}

// isPlainCall reports whether go/types accepts e as a statement and then reports whether it
// has values: whether it is a call, but not of a built-in function with an untyped result.
func (a *attempt) isPlainCall(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		switch id.Name {
		case "min", "max", "complex", "real", "imag":
			return a.declared[id.Name] || a.live[id.Name] != nil
		}
	}
	return true
}

// nameInits gives each func init a unique name and calls it where Go would: after the
// package-level variables, before the statements.
func (a *attempt) nameInits() {
	var calls []ast.Stmt
	for _, d := range a.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Name.Name != "init" {
			continue
		}
		a.inits++
		f.Name.Name = fmt.Sprintf("initʹ%dʹ%d", a.number, a.inits)
		calls = append(calls, &ast.ExprStmt{X: &ast.CallExpr{
			Fun: &ast.Ident{NamePos: f.Name.Pos(), Name: f.Name.Name}, Lparen: f.Name.Pos(), Rparen: f.Name.Pos()}})
	}
	a.body.Body.List = append(calls, a.body.Body.List...)
}

func (a *attempt) collectDeclared() {
	for _, d := range a.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				a.declared[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					a.declared[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						a.declared[n.Name] = true
					}
				}
			}
		}
	}
}

// hideNamedTypes replaces type T Earlier by type T (Earlier). go/types follows a bare name to
// its declaration in the package, which does not exist for a type of an earlier cell.
func (a *attempt) hideNamedTypes() {
	for _, d := range a.file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, s := range d.Specs {
			s := s.(*ast.TypeSpec)
			if id, ok := s.Type.(*ast.Ident); ok && !a.declared[id.Name] {
				s.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
			}
		}
	}
}

// setZeroValues adds the value *new(T) to var x T if x is already a variable: it may be the
// same variable, with an old value.
func (a *attempt) setZeroValues() {
	for _, d := range a.file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, s := range d.Specs {
			s := s.(*ast.ValueSpec)
			known := false
			for _, n := range s.Names {
				_, isVar := a.live[n.Name].(*types.Var)
				known = known || isVar
			}
			if !known || s.Type == nil || s.Values != nil {
				continue
			}
			for range s.Names {
				s.Values = append(s.Values, &ast.StarExpr{Star: s.Type.Pos(), X: &ast.CallExpr{
					Fun: &ast.Ident{NamePos: s.Type.Pos(), Name: "new"}, Lparen: s.Type.Pos(), Args: []ast.Expr{s.Type}, Rparen: s.Type.End()}})
			}
		}
	}
}

// fillScope empties the scope of the session's package and inserts the objects that the cell
// mentions. It reuses the Package and its Scope, because go/types compares unexported fields
// and generic types by package identity.
func (a *attempt) fillScope() {
	*a.pkg.Scope() = *types.NewScope(types.Universe, token.NoPos, token.NoPos, `package "main"`)
	scope := a.pkg.Scope()
	any := types.NewSlice(types.Universe.Lookup("any").Type())
	signature := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, a.pkg, "values", any)), nil, true)
	scope.Insert(types.NewFunc(token.NoPos, a.pkg, showName, signature))
	a.show = types.NewFunc(token.NoPos, types.NewPackage(sessionPath, "session"), "Result", signature)
	ast.Inspect(a.file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if name, outer := strings.CutSuffix(id.Name, outerSuffix); outer {
			a.insertOuter(name)
		} else if name, hidden := strings.CutSuffix(id.Name, hiddenSuffix); hidden {
			a.insertHidden(name)
		} else if o := a.lookup(id.Name); o != nil && !a.declared[id.Name] && !a.importNames[id.Name] && !a.isPredeclared(id.Name) {
			scope.Insert(o)
		}
		return true
	})
}

// insertOuter declares name+outerSuffix with the meaning that name had before this cell.
func (a *attempt) insertOuter(name string) {
	scope := a.pkg.Scope()
	if scope.Lookup(name+outerSuffix) != nil || a.importNames[name+outerSuffix] {
		return
	}
	o := a.lookup(name)
	if o == nil {
		o = types.Universe.Lookup(name)
	}
	if o == nil {
		return // go/types reports it as undefined
	}
	if o := alias(name+outerSuffix, o); o != nil {
		scope.Insert(o)
	}
	if clone := scope.Lookup(name + outerSuffix); clone != nil {
		a.originals[clone] = o
	}
}

// lookup returns the object that a name means in the next cell: a live one, or one of a dot
// import.
func (c *Checker) lookup(name string) types.Object {
	if o := c.live[name]; o != nil {
		return o
	}
	if !token.IsExported(name) {
		return nil
	}
	for i := len(c.dots) - 1; i >= 0; i-- {
		if p, err := c.importer.Import(c.dots[i]); err == nil {
			if o := p.Scope().Lookup(name); o != nil {
				return o
			}
		}
	}
	return nil
}

// run calls go/types, which reports errors to report.
func (a *attempt) run(ctx context.Context) {
	points := &checkpoints{}
	if !a.sketch { // a sketch may be too broken for them
		points = insertCheckpoints(a.file)
	}
	config := types.Config{Importer: a.importer, Sizes: stoppable{sizes, ctx}, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) {
			a.report(e)
		}
	}}
	defer points.remove(a.info)
	done := make(chan struct{})
	go func() { // stoppable may end this goroutine
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				a.errs = append(a.errs, &Error{Pos: a.position(0), Msg: fmt.Sprintf("internal error of the type checker: %v\n\t%s",
					r, strings.ReplaceAll(strings.TrimSpace(string(debug.Stack())), "\n", "\n\t"))})
			}
		}()
		// The returned error is the first of those that were reported one by one.
		_ = types.NewChecker(&config, a.fset, a.pkg, a.info).Files([]*ast.File{a.file})
	}()
	<-done
}

// outputCall is the call for a command whose output is assigned.
var outputCall = pattern(OutputCommand + `\(.*\)( \(value of type)`)

// isAllowed reports whether a cell may contain the error e: an unused name, or a main with
// parameters or results.
func isAllowed(e types.Error) bool {
	return e.Soft && (strings.Contains(e.Msg, "and not used") || strings.HasPrefix(e.Msg, "func main must have no "))
}

func (a *attempt) report(e types.Error) {
	if isAllowed(e) {
		a.noteAllowed(e)
		return
	}
	msg := plainName(origin.Describe(e.Msg))
	msg = strings.Replace(msg, "in argument to "+showName, "in the result of the cell", 1)
	msg = outputCall().ReplaceAllString(msg, "the output of a command$1")
	if strings.HasPrefix(msg, "\t") {
		// Continuation of the previous error.
		if n := len(a.errs); n > 0 {
			a.errs[n-1].Msg += fmt.Sprintf("\n\t%s: %s", a.fset.Position(e.Pos), strings.TrimSpace(msg))
		}
		return
	}
	if s := a.timedValue(e.Pos); s != nil && strings.HasSuffix(msg, " is not used") {
		set(&a.timedUnused, s, true)
		return
	}
	if a.result != nil && strings.HasSuffix(msg, " is not used") && e.Pos >= a.result.Pos() && e.Pos < a.result.End() && a.isPlainCall(a.result) {
		a.unused = true
		return
	}
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok && token.IsExported(name) && a.dotUnknown() {
		return
	}
	if a.sketch {
		// Nobody reads the errors of a sketch.
	} else if hint := a.notReached(msg); hint != "" {
		msg += hint
	} else if hinted := a.explain(msg); hinted != msg || len(a.errs) > MaxErrors {
		msg = hinted
	} else {
		msg += a.misspelled(e)
		if a.isOwn(e.Pos) {
			msg = a.assignment(e.Pos, msg)
			msg += conversionHint(msg)
		}
	}
	pos := a.fset.Position(e.Pos)
	if !e.Pos.IsValid() {
		pos = a.position(0)
	}
	pos.Offset = 0
	a.errs = append(a.errs, &Error{Pos: pos, Msg: msg, pos: e.Pos})
}
