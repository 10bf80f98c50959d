package interp

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"reflect"
	"sync"
	"sync/atomic"

	xmodule "golang.org/x/mod/module"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/complete"
	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/library"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/registration"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/stale"
	"github.com/quernlab/quern/interp/stream"
	"github.com/quernlab/quern/interp/symbols"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/vm/compile"
	"github.com/quernlab/quern/interp/yaegi"
)

// A Session runs cells one after the other and keeps what they define. It only connects
// its parts.
type Session struct {
	// Compiling a cell.
	sources  *diagnostics.Sources
	commands *commands
	compiler *compiler

	// Running a cell.
	flag          *control.StopFlag
	goroutines    *control.Goroutines
	executor      *executor
	renderer      *renderer
	sweeper       *sweeper
	library       *library.Library
	registrations *registration.Registrations
	reporter      *diagnostics.Reporter
	output        *stream.Output
	runs          atomic.Uint64  // number of runs so far
	cells         *stale.Tracker // what the cells use, define and change

	// Not specific to a cell.
	registry *rt.Registry
	tools    *tools
}

// New returns a session that defines nothing but ctx.
func New(options ...Option) (*Session, error) {
	if err := symbols.Check(); err != nil {
		return nil, err
	}
	s := &Session{sources: diagnostics.NewSources(), flag: &control.StopFlag{}, cells: stale.New()}
	c := newConfig(options)
	members := &goroutine.Members{}
	s.output = stream.NewOutput(c.stdout, c.stderr, c.output, members)
	s.goroutines = control.NewGoroutines(members, s.flag, s.output.StderrOf)
	input, err := stream.NewInput(c.stdin, s.goroutines)
	if err != nil {
		return nil, err
	}

	packages := symbols.Packages()
	s.registry = rt.New(rt.Config{
		Interpreted: lower.Interpreted,
		Packages:    packages,
		Stderr:      s.output.Stderr(),
		Stopped:     s.goroutines.Stopped,
		Stop:        s.goroutines.Check,
		Gone:        s.goroutines.HasEnded,
		Method:      func(t reflect.Type, m reflect.Value, first int) reflect.Value { return s.library.Method(t, m, first) },
		Activations: []string{vm.Activation},
		Captured:    vm.Captured,

		FunctionPointer: func(v reflect.Value) (uintptr, bool) { return s.library.FunctionPointer(v) },
		Declared:        func(pc uintptr) bool { return s.library.Declared(pc) },
	})
	fset := token.NewFileSet()
	modules := module.New(c.modules)
	modules.Prefer(symbols.Offering())
	loader := source.NewLoader(symbols.Importer(fset), fset, modules)
	checker := check.New(loader, fset, check.Guess(symbols.Guess), check.PackageNames(symbols.Names), check.Refuse(symbols.Refused), check.Types(s.registry.Types), check.Return(magic.Name))
	unread := &unreadErrors{}
	program := lower.New(lower.Config{
		Registry: s.registry,
		Packages: packages,
		Importer: loader,
		Errors:   unread,
		Generic:  generic.Source,
		Machine:  s.vm(),
		Compiler: s.compile(c, packages),
	})
	interpreter := yaegi.New(input.Reader(), s.output.Printed(), s.output.Stderr())

	tracebacks := diagnostics.NewTracebacks(s.sources, program)
	s.reporter = diagnostics.NewReporter(s.sources, tracebacks, s.registry)
	s.goroutines.ReportTo(s.reporter)
	s.executor = newExecutor(s.goroutines, s.flag, s.reporter, interpreter.Forget, s.output.StderrOf)
	linker := newLinker(interpreter, program)
	compiling := &sync.Mutex{}
	packagesOf := &packagesRunner{
		checker: checker, program: program, loader: loader, linker: linker, sources: s.sources, fset: fset, executor: s.executor,
		compiling: compiling, methods: map[*types.Func]bool{}, stderr: s.output.StderrOf,
	}
	s.registry.CompileMethods(packagesOf.compileMethod)
	loader.Later()
	s.compiler = &compiler{checker: checker, program: program, loader: loader, linker: linker, packages: packagesOf, sources: s.sources, registry: s.registry, goroutines: s.goroutines, compiling: compiling, note: func(cell int, err error) { noteBug(s.output.StderrOf(cell), err) }}
	s.sweeper = &sweeper{checker: checker, program: program, registry: s.registry, linker: linker, interpreter: interpreter, sources: s.sources, compiling: compiling}
	s.renderer = &renderer{values: s.registry, reporter: s.reporter, program: program, interpreter: interpreter, unread: unread}
	s.commands = &commands{checker: checker, program: program, modules: modules, interpreter: interpreter, renderer: s.renderer, output: s.output, cells: s.cells, runs: s.goroutines, ranks: c.ranks, build: c.build, loader: loader, noted: map[xmodule.Version]string{}}
	loader.NextWorker(s.commands.nextHas)
	s.tools = &tools{checker: checker, commands: s.commands, evaluator: s, executor: s.executor, goroutines: s.goroutines, timeout: valueTimeout}
	s.registrations = registration.New(s.goroutines, s.goroutines.Exit)
	s.library = library.New(library.Config{
		Goroutines: s.goroutines, Tracebacks: tracebacks, Values: s.registry, Input: input, Output: s.output, Panics: s.reporter, Declarations: checker,
	})
	s.commands.tests, s.commands.explain, s.commands.cuda = s.library.RunTests, s.compiler.explain, s.library.CompileCUDA
	if err := s.boot(packages, interpreter, unread); err != nil {
		return nil, fmt.Errorf("starting the interpreter: %w", err)
	}
	return s, nil
}

// vm returns the configuration of the VM.
func (s *Session) vm() vm.Config {
	return vm.Config{
		Registry: s.registry,
		Compile:  func(key any) error { return s.compiler.packages.compileFunction(key.(*types.Func)) },
		Stopping: s.flag.Up(),
		Stop:     s.goroutines.Check,
	}
}

// compile returns the configuration of the compiler for the VM.
func (s *Session) compile(c *config, packages library.Packages) compile.Config {
	v := compile.Config{Packages: packages, Interpreted: lower.Interpreted, Guard: s.goroutines.Guard}
	c.adapt(&v)
	return v
}

// noteBug tells the user of a bug that the cell survives.
func noteBug(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "note: this is a bug of Quern; please report it: %v\n", err)
}

// boot loads the compiled packages and defines the variables and functions that every lowered
// cell uses.
func (s *Session) boot(packages library.Packages, interpreter *yaegi.Interpreter, unread *unreadErrors) error {
	packages[rt.Methods] = s.registry.Methods()
	library.Replace(packages, s.registry.Overrides())
	s.library.Override(packages)
	library.Replace(packages, s.registrations.Overrides())
	packages["quern/session/session"] = s.symbols(unread)
	compiled := s.compiler.load(context.Background(), 0, magic.Predeclared)
	if compiled.err != nil {
		return compiled.err
	}
	if err := s.compiler.commit(compiled); err != nil {
		return err
	}
	name := func(i int) string { return s.compiler.program.Name(compiled.cell.Vars[i]) }
	ctx, err := address[context.Context](interpreter, name(0))
	if err != nil {
		return err
	}
	command, err := address[func(int, ...any)](interpreter, name(1))
	if err != nil {
		return err
	}
	*command = s.commands.run
	output, err := address[func(int, ...any) []string](interpreter, name(2))
	if err != nil {
		return err
	}
	*output = s.commands.runForOutput
	s.executor.start(ctx)
	return nil
}

// address returns the address of a variable of lowered code.
func address[T any](interpreter *yaegi.Interpreter, name string) (*T, error) {
	v, err := interpreter.Address(name)
	if err != nil {
		return nil, err
	}
	p, ok := v.Interface().(*T)
	if !ok {
		return nil, fmt.Errorf("&%s is a %s, not a %T", name, v.Type(), p)
	}
	return p, nil
}

// symbols returns the package "quern/session", which lowered code calls:
//
//	Defined(i...)              the variables of the cell with these indices are defined now
//	Result(values...)          the values of the cell's last expression
//	Unread(err, name, cell, line, column)  err is about to be lost and was not read
//	ErrorBegin, ErrorCheck     methods of unreadErrors
func (s *Session) symbols(unread *unreadErrors) map[string]reflect.Value {
	return map[string]reflect.Value{
		"Defined": reflect.ValueOf(func(vars ...int) {
			if r := s.goroutines.Run(); r != nil {
				r.Define(vars)
			}
		}),
		"Result": reflect.ValueOf(func(values ...any) {
			if r := s.goroutines.Run(); r != nil {
				r.SetResult(values, true)
			}
		}),
		"Unread":     reflect.ValueOf(unread.Lose),
		"ErrorBegin": reflect.ValueOf(unread.Begin),
		"ErrorCheck": reflect.ValueOf(unread.Check),
	}
}

// Cell returns the number of the cell that the calling goroutine belongs to, also through
// goroutines of compiled code; 0 if it belongs to none.
func (s *Session) Cell() int { return s.goroutines.Cell() }

// Interrupt ends the cell that is running, if any, as soon as its code allows, and cancels
// its ctx. Variables keep their values. The session waits for a cell that is in accel or in
// another package of Quern, because those check for interrupts. If Interrupt is called again
// at least a second later, the session continues without such a cell too.
func (s *Session) Interrupt() { s.executor.stop() }

// Close interrupts the running cell and ends the session.
func (s *Session) Close() error {
	s.executor.close(func() {
		if s.flag.Ending() == 0 {
			s.registry.Close()
		}
	})
	return nil
}

// Complete returns the completions at a byte offset of a cell. An item replaces the text from
// start to end. Like Inspect and IsComplete, it may be called while a cell runs.
func (s *Session) Complete(src string, offset int) (start, end int, items []complete.Item) {
	return s.tools.complete(src, offset)
}

// Inspect describes the name at a byte offset of a cell, as text/plain and text/markdown.
// The result is nil if there is no such name. A detail above 0 adds the methods of types and the
// source of what cells define. The value of a variable, shortened, is included if no code of a cell is
// running and if showing it runs none.
func (s *Session) Inspect(src string, offset, detail int) (data map[string]any) {
	return s.tools.inspect(src, offset, detail)
}

// Similar returns a qualified name that Inspect does not find, such as accel.fit, with a known
// name that resembles its unknown part, such as accel.Fit; "" if there is none.
func (s *Session) Similar(src string) string { return s.tools.similar(src) }

// SourceFile returns the path of a file whose name is in a position of a traceback. ok is false for cells and files of downloaded
// modules.
func (s *Session) SourceFile(name string) (path string, ok bool) { return s.compiler.loader.File(name) }

// IsComplete reports whether a cell can be run: "complete", "incomplete" with the indent of
// the next line, or "invalid".
func (s *Session) IsComplete(src string) (status, indent string) {
	return s.tools.isComplete(src)
}
