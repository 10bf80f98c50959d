package interp

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/embedded"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/stack"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/yaegi"
)

// A packagesRunner lowers and runs packages of modules when a cell imports them, as if they
// were cells.
type packagesRunner struct {
	checker  *check.Checker
	program  *lower.Program
	loader   *source.Loader
	linker   *linker
	sources  *diagnostics.Sources
	fset     *token.FileSet
	executor *executor
	// compiling is held while the other fields are used.
	compiling *sync.Mutex
	methods   map[*types.Func]bool // that have been compiled because they were called
	// initializing is the goroutine that runs initializers for compileNow; 0 if there is none.
	initializing atomic.Uint64
	kept         map[string]bool // errors of packages that could not be loaded again, at the last attempt
	stderr       func(cell int) io.Writer
}

// prepare compiles the parts of packages of modules that a checked cell needs, initializes the
// variables of these packages and runs their init functions.
func (p *packagesRunner) prepare(ctx context.Context, cell *check.Cell) error {
	var imports []string
	for _, spec := range cell.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports = append(imports, path)
		}
	}
	parts := p.loader.Needed(source.Code{Imports: imports, Info: cell.Info, Nodes: nodes(cell), Init: cell.Init, Vars: cell.Vars, Shown: cell.Result})
	return p.runParts(ctx, cell.Number, parts)
}

// reload loads packages again that have changed since they ran, and runs them. Notes say which variables are initialized
// again, and which packages keep their previous version because of an error.
func (p *packagesRunner) reload(ctx context.Context, number int) error {
	parts, failed := p.loader.Reload(p.checker.Packages())
	known := p.kept
	p.kept = map[string]bool{}
	for _, err := range failed {
		text := err.Error()
		if p.kept[text] = true; !known[text] {
			p.note(number, fmt.Sprintf("%s; earlier cells use its previous version", strings.TrimSpace(text)))
		}
	}
	return p.runParts(ctx, number, parts)
}

func (p *packagesRunner) note(number int, text string) {
	fmt.Fprintf(p.stderr(number), "note: %s\n", text)
}

// runParts compiles and runs parts.
func (p *packagesRunner) runParts(ctx context.Context, number int, parts []*source.Part) error {
	if len(parts) == 0 {
		return nil
	}
	meter, _ := display.Measure(ctx, "compiling packages", float64(len(parts)))
	defer meter.End()
	for i := 0; i < len(parts); i++ {
		part := parts[i]
		if part.Missing == nil {
			continue
		}
		others, ok := p.loader.Reject(part, parts[i+1:])
		if !ok {
			p.loader.Drop(parts)
			return &source.Error{Path: part.Path, Err: part.Missing}
		}
		parts, i = append(parts[:i:i], others...), i-1
	}
	count := float64(len(parts))
	for len(parts) > 0 {
		part := parts[0]
		meter.Set(count-float64(len(parts)), part.Path)
		err := p.run(ctx, number, part)
		later := parts[1:]
		if err != nil && ctx.Err() == nil {
			// A package that the cell does not need keeps its previous version.
			if others, ok := p.loader.Reject(part, later); ok {
				first, _, _ := strings.Cut(err.Error(), "\n")
				p.note(number, strings.TrimSuffix(first, ":")+"; earlier cells use its previous version")
				parts = others
				continue
			}
		}
		if err != nil {
			p.loader.Drop(parts)
			return err
		}
		parts = later
	}
	meter.Set(count, "")
	return nil
}

// nodes returns the syntax of a cell, apart from initializers.
func nodes(cell *check.Cell) []ast.Node {
	var list []ast.Node
	for _, t := range cell.Types {
		list = append(list, t)
	}
	for _, f := range cell.Funcs {
		list = append(list, f)
	}
	for _, b := range cell.Body {
		list = append(list, b)
	}
	return list
}

// run compiles and runs a part of a package. Its initializers may call methods that are compiled meanwhile.
func (p *packagesRunner) run(ctx context.Context, number int, part *source.Part) error {
	unit, err := p.compile(ctx, p.cell(number, part), part)
	if err != nil {
		return err
	}
	p.program.Publish()
	if unit != nil && !unit.IsEmpty() {
		err = p.execute(ctx, number, unit)
	}
	if err != nil {
		if part.Replaces() && ctx.Err() == nil {
			err = fmt.Errorf("%w\nits files have changed, and its variables and init functions are initialized again: if that is possible only once, %%restart starts a new worker", err)
		}
		return &source.Error{Path: part.Path, Err: err}
	}
	if names := part.Reset(); len(names) > 0 {
		p.note(number, fmt.Sprintf("package %s, or one that it imports, has changed, and its variables are initialized again: %s", part.Path, shortened(names)))
	}
	return nil
}

// shortened joins names, of which there may be many.
func shortened(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// execute runs the body of a unit that shows nothing.
func (p *packagesRunner) execute(ctx context.Context, number int, unit *lower.Unit) error {
	p.compiling.Unlock()
	defer p.compiling.Lock()
	nothing := func(failure *Error) (Result, error) {
		if failure != nil {
			return Result{}, failure
		}
		return Result{}, nil
	}
	_, err := p.executor.run(ctx, goroutine.NewRun(number), unit, nothing, func() {})
	return err
}

// compileMethod compiles a method of a package when it is called for the first time through an interface or package reflect.
// It does nothing for other methods.
func (p *packagesRunner) compileMethod(m *types.Func) error {
	m = m.Origin()
	if m.Pkg() == nil || !origin.IsModule(m.Pkg()) || m.Signature().RecvTypeParams() != nil || types.IsInterface(m.Signature().Recv().Type()) {
		return nil
	}
	defer p.lock()()
	if p.methods[m] {
		return nil
	}
	number := p.executor.goroutines.Cell()
	if err := p.compileParts(number, p.loader.NeededMethod(m)); err != nil {
		return err
	}
	entry := &check.Cell{Number: number, Fset: p.fset, Package: m.Pkg(), Info: p.checker.Info(), Part: true, Methods: []*types.Func{m}}
	if err := p.compileNow(context.Background(), entry, nil); err != nil {
		return err
	}
	p.methods[m] = true
	return nil
}

// compileFunction compiles a function or method of a package when it is called for the first time.
func (p *packagesRunner) compileFunction(f *types.Func) error {
	defer p.lock()()
	if err := p.compileParts(p.executor.goroutines.Cell(), p.loader.NeededFunction(f)); err != nil {
		return &vm.UncompiledError{Function: origin.Describe(f.FullName()), Err: err}
	}
	return nil
}

// compileParts compiles parts while code that needs them waits.
func (p *packagesRunner) compileParts(number int, parts []*source.Part) error {
	for i, part := range parts {
		err := part.Missing
		if err != nil {
			err = &source.Error{Path: part.Path, Err: err}
		} else {
			err = p.compileNow(context.Background(), p.cell(number, part), part)
		}
		if err != nil {
			p.loader.Drop(parts[i:])
			return err
		}
	}
	p.program.Publish()
	return nil
}

// lock locks compiling, unless the calling goroutine runs initializers for compileNow, which has locked it.
func (p *packagesRunner) lock() (unlock func()) {
	if p.initializing.Load() == stack.ID() {
		return func() {}
	}
	p.compiling.Lock()
	return p.compiling.Unlock
}

// compileNow compiles a part and runs it on the calling goroutine. Its initializers are literals: all others have run.
func (p *packagesRunner) compileNow(ctx context.Context, cell *check.Cell, part *source.Part) error {
	unit, err := p.compile(ctx, cell, part)
	if err != nil || unit == nil || unit.IsEmpty() {
		return err
	}
	defer p.initializing.Store(p.initializing.Swap(stack.ID()))
	yaegi.Run(unit.Statements(), &err)
	return err
}

// cell returns a part as a cell.
func (p *packagesRunner) cell(number int, part *source.Part) *check.Cell {
	return &check.Cell{
		Number: number, Fset: p.fset, Package: part.Types, First: part.First, Info: p.checker.Info(),
		Types: part.Specs, Funcs: part.Funcs, Later: part.Later, Vars: part.Vars, Init: part.Init, Body: part.Inits,
		Part: true, Order: part.Order, Dispatched: part.Dispatched, Tables: part.Tables, Replaced: part.Replaced,
		SharesLoopVariables: part.SharesLoopVariables,
	}
}

// compile passes a part as a cell to the interpreter; part is nil if the cell only registers methods. The unit is nil if
// the part is empty.
func (p *packagesRunner) compile(ctx context.Context, cell *check.Cell, part *source.Part) (*lower.Unit, error) {
	if part == nil {
		part = &source.Part{Path: origin.ImportPath(cell.Package)}
	} else if part.Empty() {
		p.loader.Compiled(part)
		return nil, nil
	} else {
		p.checker.AddFacts(part.Info, part.Nodes, part.Tables)
	}
	unit, err := p.program.Lower(ctx, cell)
	if err != nil {
		if errors.As(err, new(*lower.UnsupportedError)) {
			err = fmt.Errorf("%w%s", err, source.CompileInstead(part.Path))
		}
		return nil, &source.Error{Path: part.Path, Err: err}
	}
	err = p.linker.install(ctx, unit)
	if err == nil {
		err = p.embed(part.Embedded)
	}
	if err != nil {
		p.program.Discard(unit)
		return nil, &source.Error{Path: part.Path, Err: err}
	}
	p.linker.redeclare(unit)
	p.program.Commit(unit)
	p.sources.AddCell(cell, p.program.Name)
	if cell.Methods == nil {
		p.loader.Compiled(part)
	}
	return unit, nil
}

// embed sets variables to embedded files.
func (p *packagesRunner) embed(variables map[*types.Var]embedded.Files) error {
	for v, files := range variables {
		address, err := p.linker.interpreter.Address(p.program.Name(v))
		if err != nil {
			return err
		}
		if err := files.Set(address.Elem()); err != nil {
			return fmt.Errorf("%s: %w", p.fset.Position(v.Pos()), err)
		}
	}
	return nil
}
