package interp

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/internal/secret"
	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/format"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/stale"
	"github.com/quernlab/quern/interp/stream"
)

// commands finds and runs the magic commands of cells. It implements magic.Session, the part of
// the session that commands use.
type commands struct {
	checker     *check.Checker
	program     *lower.Program
	modules     *module.Set
	interpreter interface {
		Eval(src string) (reflect.Value, error)
	}
	renderer *renderer
	output   *stream.Output
	cells    *stale.Tracker
	runs     interface{ Run() *goroutine.Run }
	ranks    magic.Ranks
	build    Builder
	next     Program // of %get -compiled; empty if there is none
	loader   *source.Loader
	noted    map[xmodule.Version]string // results of fallbacks
	autoget  bool                       // see %autoget
	tests    func(context.Context, magic.TestRun) error
	explain  func(ctx context.Context, cell int, src, text string) (string, error)
	cuda     func(text string, flags []string) (map[string]reflect.Value, error)
}

func (c *commands) Stdout() io.Writer      { return c.output.Stdout() }
func (c *commands) Stderr() io.Writer      { return c.output.Stderr() }
func (c *commands) Ranks() magic.Ranks     { return c.ranks }
func (c *commands) Stale() []stale.Cell    { return c.cells.Stale() }
func (c *commands) Known(name string) bool { return c.checker.Known(name) }

func (c *commands) Variables() []magic.Variable {
	var list []magic.Variable
	for _, v := range c.checker.Variables() {
		if v.Name() != "ctx" {
			list = append(list, magic.Variable{Name: v.Name(), Type: types.TypeString(v.Type(), func(p *types.Package) string {
				if p == c.checker.Package() {
					return ""
				}
				return p.Name()
			})})
		}
	}
	return list
}

// Module describes the module that %get has downloaded for the path of a module or a package.
func (c *commands) Module(m magic.Module) string {
	if !m.Compiled {
		return magic.Described(m.Path(), c.modules) + c.fallbacks(m)
	}
	if in, _ := m.CompiledIn(); in || c.ranks.Rank() > 0 {
		return magic.Described(m.Path(), c.modules)
	}
	text := fmt.Sprintf("a program with %s is built: %%restart starts a worker with it", strings.Join(c.next.Packages, ", "))
	if c.next.Go != runtime.Version() {
		text += fmt.Sprintf("; it is built by %s, and cells have the language and the library of that release", c.next.Go)
	}
	for _, o := range c.next.Omitted {
		text += "\n" + o
	}
	return text
}

// fallbacks returns a note about the packages of a downloaded module that are not what a compiler would make of them; empty
// if there are none.
func (c *commands) fallbacks(m magic.Module) string {
	if in, _ := m.CompiledIn(); in || m.Directory() {
		return ""
	}
	of, ok := c.modules.Of(m.Path())
	if !ok {
		return ""
	}
	note, known := c.noted[of]
	if known {
		return note
	}
	if p, ok, err := c.modules.Find(context.Background(), of.Path); ok && err == nil && p.Stamp == "" {
		if paths := c.loader.Fallbacks(p); len(paths) > 0 {
			for i, path := range paths {
				if paths[i] = strings.TrimPrefix(path, of.Path+"/"); path == of.Path {
					paths[i] = path[strings.LastIndexByte(path, '/')+1:]
				}
			}
			note = "; instead of assembly or cgo, cells run the code in Go of its packages " + shortened(paths)
		}
	}
	c.noted[of] = note
	return note
}

// nextHas reports whether a package is compiled into the program of the next worker.
func (c *commands) nextHas(importPath string) bool {
	return slices.ContainsFunc(c.next.Packages, func(p string) bool {
		path, _, _ := strings.Cut(p, "@")
		return importPath == path || strings.HasPrefix(importPath, path+"/")
	})
}

// Program returns the path of the program of the next worker; empty for that of this one.
func (c *commands) Program() string { return c.next.Path }

// compile builds a program with a module compiled in, for the next worker.
func (c *commands) compile(ctx context.Context, m magic.Module) error {
	if c.ranks.Rank() > 0 {
		return nil // rank 0 does so
	}
	if c.build == nil {
		return errors.New("a new worker needs a kernel: run the cell in a notebook or with quern run")
	}
	meter, ctx := display.Measure(ctx, "%get -compiled", 3)
	defer meter.End()
	steps := 0.0
	program, err := c.build(ctx, append(slices.Clone(c.next.Packages), m.Query), func(step string) {
		meter.Set(steps, step)
		steps++
	})
	if err != nil {
		return err
	}
	c.next = program
	return nil
}

// Format formats a cell.
func (c *commands) Format(src string) (string, error) {
	f := format.Formatter{Known: c.checker.Known}
	return f.Cell(src)
}

// Explain describes what a cell is compiled to.
func (c *commands) Explain(ctx context.Context, src, text string) (string, error) {
	return c.explain(ctx, c.runs.Run().Cell, src, text)
}

// TestFunctions returns the test functions of the session and of a cell.
func (c *commands) TestFunctions(src string) []check.TestFunction {
	return c.checker.TestFunctions(src)
}

// Test runs tests.
func (c *commands) Test(ctx context.Context, run magic.TestRun) error { return c.tests(ctx, run) }

func (c *commands) Text(value any) string { return c.renderer.text(value) }

func (c *commands) Word(value any) (string, error) { return c.renderer.word(value) }

// parse finds the commands of a cell and downloads the modules that it requests. If a command
// is %reset, parse removes all definitions.
func (c *commands) parse(ctx context.Context, cell int, src string) (*magic.Cell, error) {
	commands, err := magic.Parse(src, c)
	var wrong *magic.Error
	if err == nil {
		wrong = c.getModules(ctx, commands.Modules)
		if commands.Autoget != "" {
			c.autoget = commands.Autoget == "on"
		}
		if wrong == nil && c.autoget {
			wrong = c.getImports(ctx, cell, src)
		}
	} else if !errors.As(err, &wrong) {
		return nil, err
	}
	if wrong != nil {
		return nil, check.ErrorList{{Msg: wrong.Msg, Pos: token.Position{
			Filename: diagnostics.Filename(cell),
			Line:     1 + strings.Count(src[:wrong.Offset], "\n"),
			Column:   wrong.Offset - strings.LastIndexByte(src[:wrong.Offset], '\n'),
		}}}
	}
	if commands.CUDA != nil {
		if err := c.compileCUDA(cell, src, commands); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if commands.Reset {
		c.reset()
	}
	return commands, nil
}

// compileCUDA compiles the kernels of a cell. The lines of its errors are those of the cell.
func (c *commands) compileCUDA(cell int, src string, commands *magic.Cell) error {
	program := commands.CUDA
	text := fmt.Sprintf("#line %d %q\n%s", program.Line, diagnostics.Filename(cell), program.Source)
	kernels, err := c.cuda(text, program.Flags)
	if err == nil {
		err = commands.SetKernels(kernels)
	}
	if err == nil {
		return nil
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		list = scanner.ErrorList{{Pos: token.Position{
			Filename: diagnostics.Filename(cell), Line: program.Line - 1, Column: program.Offset - strings.LastIndexByte(src[:program.Offset], '\n'),
		}, Msg: err.Error()}}
	}
	var errs check.ErrorList
	for _, e := range list {
		errs = append(errs, &check.Error{Pos: e.Pos, Msg: e.Msg})
	}
	return errs
}

// getImports downloads the modules that the imports of a cell need.
func (c *commands) getImports(ctx context.Context, cell int, src string) (wrong *magic.Error) {
	// The error is that of getModules.
	_ = magic.Missing(ctx, src, c.Known, c.modules, func(m magic.Module) error {
		if c.nextHas(m.Query) {
			return nil // the import says that %restart is missing
		}
		if wrong = c.getModules(ctx, []magic.Module{m}); wrong != nil {
			wrong.Msg = strings.Replace(wrong.Msg, "%get", "%autoget", 1)
			return wrong
		}
		if c.ranks.Rank() == 0 {
			fmt.Fprintf(c.output.StderrOf(cell), "note: %%autoget has downloaded %s\n", c.Module(m))
		}
		return nil
	})
	return wrong
}

// getModules downloads the modules that a cell requests.
func (c *commands) getModules(ctx context.Context, requests []magic.Module) *magic.Error {
	if len(requests) == 0 {
		return nil
	}
	meter, ctx := display.Measure(ctx, "%get", float64(len(requests)))
	defer meter.End()
	for i, r := range requests {
		meter.Set(float64(i), r.Query)
		compiled, err := r.CompiledIn()
		switch {
		case compiled:
		case r.Compiled:
			err = c.compile(ctx, r)
		case r.Directory():
			_, err = c.modules.Add(r.Query)
		default:
			_, err = c.modules.Get(ctx, r.Query)
		}
		if err != nil {
			return &magic.Error{Offset: r.Offset, Msg: secret.Text(fmt.Sprintf("%%get %s: %v", r.Query, err))}
		}
	}
	meter.Set(float64(len(requests)), "")
	return nil
}

// run runs a command. Cells call it where the command was.
func (c *commands) run(number int, values ...any) { c.runForOutput(number, values...) }

// runForOutput is run for a command whose output is assigned.
func (c *commands) runForOutput(number int, values ...any) []string {
	r := c.runs.Run()
	if r == nil || r.Commands == nil {
		panic(diagnostics.NewCommandError(fmt.Errorf("the name %s is reserved", magic.Name)))
	}
	if number == check.EndCell {
		panic(diagnostics.EndOfCell{})
	}
	ctx := r.Context()
	output, err := r.Commands.Output(ctx, number, values)
	switch {
	case ctx.Err() != nil:
		runtime.Goexit()
	case err != nil:
		panic(diagnostics.NewCommandError(err))
	}
	return output
}

// reset removes what cells defined and sets their variables to zero values, so that their
// memory can be freed. Goroutines that are still running see the zero values.
func (c *commands) reset() {
	for _, v := range c.checker.Variables() {
		if v.Name() == "ctx" {
			continue
		}
		if value, err := c.interpreter.Eval("&" + c.program.Name(v)); err == nil {
			value.Elem().SetZero()
		}
	}
	c.checker.Reset("ctx", magic.Name, magic.OutputName)
	c.cells.Reset()
}
