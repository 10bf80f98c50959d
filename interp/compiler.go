package interp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/source"
)

// A compiler checks and lowers cells and hands them to the interpreter.
//
// It compiles a cell on a separate goroutine, because an interrupt must end the cell at
// once, and the parser and the interpreter cannot be stopped in the middle of a piece of
// source. All steps check the context. A step that is interrupted and takes longer continues
// in the background, and the next cell waits for it.
type compiler struct {
	checker    *check.Checker
	program    *lower.Program
	loader     *source.Loader
	linker     *linker
	packages   *packagesRunner
	sources    *diagnostics.Sources
	registry   *rt.Registry
	goroutines *control.Goroutines
	// compiling is held from load to commit, keep or discard, and while a method is compiled that running code calls.
	compiling *sync.Mutex

	// note tells the user of a bug that the cell survives.
	note func(cell int, err error)

	refreshed string // the error of the last refresh; empty if there was none

	leftover <-chan struct{} // closed when an interrupted compilation has ended; nil if there is none
}

// compileGrace is how long an interrupted cell waits for the current step.
const compileGrace = 50 * time.Millisecond

// compiled is a cell that can run, or why it cannot.
type compiled struct {
	cell *check.Cell
	unit *lower.Unit
	err  error
	undo func() // undoes what happened before the check of the cell, if the cell is discarded; may be nil
}

// prepare loads the cell whose text source returns. If ctx ends, it soon returns an error, and
// the cell defines nothing. undo is called if the cell is not going to run; it undoes what source did.
func (c *compiler) prepare(ctx context.Context, number int, source func() (string, error), undo func()) compiled {
	result := make(chan compiled, 1)
	go func() {
		var p compiled
		src, err := source()
		if err == nil {
			p = c.load(ctx, number, src)
		} else {
			p.err = err
		}
		if p.undo = undo; p.err != nil {
			undo()
		}
		result <- p
	}()
	select {
	case p := <-result:
		return c.unlessStopped(ctx, p)
	case <-ctx.Done():
	}
	timer := time.NewTimer(compileGrace)
	defer timer.Stop()
	select {
	case p := <-result:
		return c.unlessStopped(ctx, p)
	case <-timer.C:
	}
	leftover := make(chan struct{})
	c.leftover = leftover
	go func() {
		defer close(leftover)
		c.discard(<-result)
	}()
	return interruptedEarly()
}

// unlessStopped returns p. If ctx has ended it discards p.
func (c *compiler) unlessStopped(ctx context.Context, p compiled) compiled {
	if ctx.Err() == nil {
		return p
	}
	c.discard(p)
	return interruptedEarly()
}

func interruptedEarly() compiled {
	return compiled{err: diagnostics.New(diagnostics.Interrupted, "the cell was interrupted before it ran", nil)}
}

// finishLeftover waits until the compilation of an interrupted cell, if any, has ended in the
// background.
func (c *compiler) finishLeftover(ctx context.Context) error {
	if c.leftover == nil {
		return nil
	}
	select {
	case <-c.leftover:
		c.leftover = nil
		return nil
	case <-ctx.Done():
		return diagnostics.New(diagnostics.Interrupted, "the cell was interrupted before it ran: the compiler was still busy with the previous cell", nil)
	}
}

// load checks and lowers a cell and passes it to the interpreter. After an error, nothing of
// the cell remains. Without one, commit, keep or discard must follow.
func (c *compiler) load(ctx context.Context, number int, src string) (p compiled) {
	c.compiling.Lock()
	defer func() {
		if p.err != nil {
			c.compiling.Unlock()
		}
	}()
	c.loader.Begin(ctx)
	defer c.loader.End()
	if err := c.refresh(ctx, number); err != nil {
		return compiled{err: err}
	}
	cell, err := c.checker.Check(ctx, number, src)
	if err != nil {
		return compiled{err: err}
	}
	unit, err := c.lower(ctx, cell)
	if err != nil {
		c.checker.Discard(cell)
		return compiled{err: err}
	}
	return compiled{cell: cell, unit: unit}
}

// lower lowers a checked cell and links it.
func (c *compiler) lower(ctx context.Context, cell *check.Cell) (*lower.Unit, error) {
	if err := c.packages.prepare(ctx, cell); err != nil {
		return nil, err
	}
	unit, err := c.program.Lower(ctx, cell)
	if err != nil {
		return nil, err
	}
	if err := c.linker.install(ctx, unit); err != nil {
		c.program.Discard(unit)
		return nil, err
	}
	return unit, nil
}

// explain describes what a cell is compiled to, of which nothing remains. text is the cell with its commands.
func (c *compiler) explain(ctx context.Context, number int, src, text string) (string, error) {
	p := c.load(ctx, number, src)
	if p.err != nil {
		return "", p.err
	}
	defer c.discard(p)
	return p.unit.Explain(c.program.Position, text), nil
}

// undefine takes back the definitions of the variables that a cell, which has ended, has not reached.
func (c *compiler) undefine(cell *check.Cell, isDefined func(i int) bool) {
	c.compiling.Lock()
	defer c.compiling.Unlock()
	ctx := context.Background() // also after an interrupt
	users, err := c.checker.Undefine(ctx, cell, isDefined)
	if users == nil || err != nil {
		return // what uses the variables stays as it was
	}
	if err := c.recompile(ctx, users); err != nil {
		c.note(cell.Number, err)
	}
}

// commit keeps what a cell defines. After an error the cell must not run: compiled packages cannot call its methods.
func (c *compiler) commit(p compiled) error {
	defer c.compiling.Unlock()
	c.keepCell(p.cell, p.unit)
	return c.retype(p.cell)
}

// retype gives the interface values in variables the types with the methods that cells have declared since: in those of the session, in those
// of packages that are imported from source, which may hold values of cells, and in those that cells have replaced, which closures may use.
func (c *compiler) retype(cell *check.Cell) error {
	running := c.goroutines.Started()
	retyper := c.registry.Retype(len(running) == 0)
	if retyper == nil {
		return nil
	}
	var skipped []string
	var failure error
	session := c.checker.Variables()
	others := slices.DeleteFunc(c.program.Variables(), func(v *types.Var) bool { return slices.Contains(session, v) })
	for i, v := range slices.Concat(session, others) {
		variable, err := c.linker.interpreter.Address(c.program.Name(v))
		if err != nil {
			continue // it has no value yet
		}
		all, err := retyper.Visit(variable.Elem())
		failure = cmp.Or(failure, err)
		switch {
		case all:
		case i < len(session):
			skipped = append(skipped, v.Name())
		case origin.IsModule(v.Pkg()):
			skipped = append(skipped, v.Pkg().Name()+"."+v.Name())
		}
	}
	if skipped != nil {
		c.packages.note(cell.Number, skippedNote(skipped, running))
	}
	var methods *rt.MethodsError
	if errors.As(failure, &methods) {
		return check.ErrorList{{Pos: cell.Fset.Position(methodOf(cell, methods.Type)), Msg: methods.Error()}}
	}
	return failure
}

// methodOf returns where a cell declares the first method of a type, or of any type if that has got methods through embedded fields.
func methodOf(cell *check.Cell, typ string) token.Pos {
	at := token.NoPos
	for _, f := range cell.Funcs {
		if f.Recv == nil {
			continue
		}
		receiver := cell.Info.Defs[f.Name].(*types.Func).Signature().Recv().Type()
		if p, ok := receiver.(*types.Pointer); ok {
			receiver = p.Elem()
		}
		if n, ok := types.Unalias(receiver).(*types.Named); ok && typ == "main."+n.Obj().Name() {
			return f.Name.Pos()
		}
		if at == token.NoPos {
			at = f.Name.Pos()
		}
	}
	return at
}

// skippedNote says that maps that variables refer to have values without new methods, because goroutines of cells run.
func skippedNote(variables []string, running []int) string {
	var cells []string
	for _, n := range running {
		cells = append(cells, check.Filename(n))
	}
	return fmt.Sprintf("values in maps of %s do not get the methods that this cell adds to their types, and such keys are not found, because goroutines of %s run: "+
		"end them, and the next cell adds the methods; or make the maps again", shortened(variables), shortened(cells))
}

// keepCell keeps what a cell defines. The caller holds compiling.
func (c *compiler) keepCell(cell *check.Cell, unit *lower.Unit) {
	c.checker.Commit(cell)
	c.program.Commit(unit)
	c.sources.AddCell(cell, c.program.Name)
}

// keep keeps what an expression, which defines nothing, needs to run; c.checker.Discard must follow.
func (c *compiler) keep(p compiled) {
	c.program.Commit(p.unit)
	c.compiling.Unlock()
}

// discard removes what a cell defines.
func (c *compiler) discard(p compiled) {
	if p.err == nil {
		c.program.Discard(p.unit)
		c.checker.Discard(p.cell)
		if p.undo != nil {
			p.undo()
		}
		c.compiling.Unlock()
	}
}

// refresh loads packages of modules again that have changed, and compiles the declarations of earlier cells that use
// them, by the rules for the redefinition of a name: what does not compile any more is reported, and panics when it is
// called. The cell that follows need not use any of these, so an error is only a note, and what the declarations are then
// stays as it was. The error is that of ctx if it has ended.
func (c *compiler) refresh(ctx context.Context, number int) error {
	err := c.packages.reload(ctx, number)
	if err == nil {
		err = c.recheck(ctx, number)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != c.refreshed {
		c.packages.note(number, fmt.Sprintf("functions, types and constants of earlier cells use the versions of packages before their files changed: %s", text))
	}
	c.refreshed = text
	return nil
}

// recheck compiles the declarations of cells that use other versions of packages than are loaded now.
func (c *compiler) recheck(ctx context.Context, number int) error {
	cell, err := c.checker.Recheck(ctx, number, c.loader.Loaded())
	if cell == nil || err != nil {
		return err
	}
	if err := c.recompile(ctx, cell); err != nil {
		return err
	}
	for _, e := range cell.Broken {
		c.packages.note(number, "the changed files break "+brokenNote(e))
	}
	return nil
}

// recompile compiles a cell that consists of declarations of earlier cells. The caller holds compiling.
func (c *compiler) recompile(ctx context.Context, cell *check.Cell) error {
	unit, err := c.lower(ctx, cell)
	if err != nil {
		c.checker.Discard(cell)
		return err
	}
	c.linker.redeclare(unit)
	c.keepCell(cell, unit)
	defer c.checker.Release(cell)
	return c.packages.execute(ctx, cell.Number, unit)
}

// A group is a function of cells with all its earlier declarations: closures and goroutines
// that used an earlier one call the current one.
type group struct {
	current atomic.Pointer[reflect.Value]
	value   reflect.Value // calls current
}

func newGroup(t reflect.Type) *group {
	g := &group{}
	g.value = reflect.MakeFunc(t, func(arguments []reflect.Value) []reflect.Value { return g.current.Load().Call(arguments) })
	return g
}
