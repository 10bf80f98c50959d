package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/source"
)

// analyzers are those of go vet that apply to cells. The others are about files: assembly, cgo, build tags, directives,
// tests and versions of Go.
var analyzers = []*analysis.Analyzer{
	appends.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, composite.Analyzer, copylock.Analyzer,
	defers.Analyzer, errorsas.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer,
	lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer,
	stdmethods.Analyzer, stringintconv.Analyzer, structtag.Analyzer, timeformat.Analyzer, unmarshal.Analyzer,
	unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, waitgroup.Analyzer,
}

// An analyzer runs the analyzers over the cells. Facts about functions of earlier cells, and of packages that are
// interpreted, are known in later ones: for instance that a function formats its arguments as fmt.Printf does.
type analyzer struct {
	objects  map[factKey]analysis.Fact
	packages map[factKey]analysis.Fact
	analyzed map[*types.Package]bool
}

// A code is what a pass analyzes: a cell or a package.
type code struct {
	fset    *token.FileSet
	files   []*ast.File
	pkg     *types.Package
	info    *types.Info
	results map[*analysis.Analyzer]any
}

// A factKey identifies a fact by its object or package, and its type.
type factKey struct {
	about any
	typ   reflect.Type
}

func newAnalyzer() *analyzer {
	return &analyzer{map[factKey]analysis.Fact{}, map[factKey]analysis.Fact{}, map[*types.Package]bool{}}
}

// factAnalyzers are the analyzers, and those that they require, which learn something about a package that matters to code
// that imports it.
var factAnalyzers = func() (list []*analysis.Analyzer) {
	seen := map[*analysis.Analyzer]bool{}
	var add func(*analysis.Analyzer)
	add = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		for _, r := range a.Requires {
			add(r)
		}
		if len(a.FactTypes) > 0 {
			list = append(list, a)
		}
	}
	for _, a := range analyzers {
		add(a)
	}
	return list
}()

// learn finds the facts about packages, each of which comes after its imports. Mistakes in them are not reported.
func (z *analyzer) learn(fset *token.FileSet, packages []source.Package) error {
	for _, p := range packages {
		if z.analyzed[p.Types] {
			continue
		}
		z.analyzed[p.Types] = true
		c := &code{fset, p.Files, p.Types, p.Info, map[*analysis.Analyzer]any{}}
		for _, a := range factAnalyzers {
			if err := z.one(a, c, func(analysis.Diagnostic) {}); err != nil {
				return fmt.Errorf("package %s: %w", origin.ImportPath(p.Types), err)
			}
		}
	}
	return nil
}

// run returns the findings of all analyzers in a checked cell.
func (z *analyzer) run(cell *check.Cell) (found check.ErrorList, err error) {
	file := cell.File()
	c := &code{cell.Fset, []*ast.File{file}, cell.Package, cell.Info, map[*analysis.Analyzer]any{}}
	for _, a := range analyzers {
		report := func(d analysis.Diagnostic) {
			if !isIntended(a, d.Pos, cell, file) {
				found = append(found, &check.Error{Pos: cell.Fset.Position(d.Pos), Msg: origin.Describe(d.Message)})
			}
		}
		if err := z.one(a, c, report); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// one runs an analyzer after those that it requires.
func (z *analyzer) one(a *analysis.Analyzer, c *code, report func(analysis.Diagnostic)) (err error) {
	if _, ok := c.results[a]; ok {
		return nil
	}
	resultOf := map[*analysis.Analyzer]any{}
	for _, r := range a.Requires {
		if err := z.one(r, c, func(analysis.Diagnostic) {}); err != nil {
			return err
		}
		resultOf[r] = c.results[r]
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error: the analyzer %s failed: %v", a.Name, v)
		}
	}()
	pass := &analysis.Pass{
		Analyzer: a, Fset: c.fset, Files: c.files, Pkg: c.pkg, TypesInfo: c.info,
		TypesSizes: types.SizesFor("gc", runtime.GOARCH), ResultOf: resultOf, Report: report, ReadFile: os.ReadFile,
		ImportObjectFact:  func(o types.Object, f analysis.Fact) bool { return load(z.objects, o, f) },
		ExportObjectFact:  func(o types.Object, f analysis.Fact) { z.objects[factKey{o, reflect.TypeOf(f)}] = f },
		ImportPackageFact: func(p *types.Package, f analysis.Fact) bool { return load(z.packages, p, f) },
		AllObjectFacts:    func() []analysis.ObjectFact { return nil },
		AllPackageFacts:   func() []analysis.PackageFact { return nil },
	}
	pass.ExportPackageFact = func(f analysis.Fact) { z.packages[factKey{pass.Pkg, reflect.TypeOf(f)}] = f }
	if c.results[a], err = a.Run(pass); err != nil {
		return fmt.Errorf("the analyzer %s failed: %w", a.Name, err)
	}
	return nil
}

// load copies a fact.
func load(facts map[factKey]analysis.Fact, about any, into analysis.Fact) bool {
	f, ok := facts[factKey{about, reflect.TypeOf(into)}]
	if ok {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(f).Elem())
	}
	return ok
}

// isIntended reports whether a finding is about what is right in a cell although it is wrong in a function: the last
// expression is the result, and a later cell may call the function that cancels a context.
func isIntended(a *analysis.Analyzer, pos token.Pos, cell *check.Cell, file *ast.File) bool {
	switch a {
	case unusedresult.Analyzer:
		for _, r := range cell.Result {
			if r.Pos() <= pos && pos <= r.End() {
				return true
			}
		}
	case lostcancel.Analyzer:
		body := file.Decls[len(file.Decls)-1].(*ast.FuncDecl).Body
		return body.Pos() <= pos && pos < body.End() && !inLiteral(body, pos)
	}
	return false
}

func inLiteral(body *ast.BlockStmt, pos token.Pos) (in bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		l, ok := n.(*ast.FuncLit)
		in = in || ok && l.Pos() <= pos && pos < l.End()
		return !in
	})
	return in
}
