package interp

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/control"
	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/library"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/machine"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/registration"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/stream"
	"github.com/quernlab/quern/interp/symbols"
	"github.com/quernlab/quern/interp/yaegi"
)

// A Session runs cells one after the other and keeps what they define.
type Session struct {
	config        *config
	fset          *token.FileSet
	checker       *check.Checker
	program       *lower.Program
	modules       *module.Set
	loader        *source.Loader
	registry      *rt.Registry
	engine        interpreter
	sources       *diagnostics.Sources
	tracebacks    *diagnostics.Tracebacks
	reporter      *diagnostics.Reporter
	imported      map[string]bool // import declarations that yaegi has seen
	flag          *control.StopFlag
	goroutines    *control.Goroutines
	awaiter       *control.Awaiter
	input         *stream.Input
	output        *stream.Output
	library       *library.Library
	registrations *registration.Registrations
	runs          atomic.Uint64 // so many

	// Variables of lowered code, by address.
	context *context.Context
	command *func(number int, values ...any) // magic.Name

	live      time.Duration                        // how long a value is looked for, see liveValue
	executing chan struct{}                        // holds a token while no cell runs
	interrupt atomic.Pointer[control.Interruption] // of the running cell

	unread unreadErrors // of the running cell

	sinceSweep int // cells
	sweepAfter int // so many

	mu       sync.Mutex        // guards the fields below
	groups   map[string]*group // of functions that were declared again
	leftover <-chan struct{}   // of an interrupted compilation, see prepare; guarded by executing
	closed   bool
}

// An interpreter runs lowered code; see yaegi.Interpreter.
type interpreter interface {
	Use(packages map[string]map[string]reflect.Value) error
	Eval(src string) (reflect.Value, error)
	Address(variable string) (reflect.Value, error)
	Run(function string) error
	CallValue(function string) error
	Redirect(function string, v reflect.Value) error
	Forget(functions ...string)
	Keep(known, mentioned map[string]bool)
	Trace() []yaegi.Frame
	Frames(stack string) []yaegi.Frame
}

// New returns a session without any definitions but ctx.
func New(options ...Option) (*Session, error) {
	if err := symbols.Check(); err != nil {
		return nil, err
	}
	s := &Session{
		config:    newConfig(options),
		fset:      token.NewFileSet(),
		imported:  map[string]bool{},
		sources:   diagnostics.NewSources(),
		executing: make(chan struct{}, 1),
		groups:    map[string]*group{},
		live:      liveLimit,
	}
	members := &goroutine.Members{}
	s.output = stream.NewOutput(s.config.stdout, s.config.stderr, s.config.output, members)
	s.flag = &control.StopFlag{}
	s.goroutines = control.NewGoroutines(members, s.flag, s.output.StderrOf)
	s.awaiter = control.NewAwaiter(s.flag)
	var err error
	if s.input, err = stream.NewInput(s.config.stdin, s.goroutines); err != nil {
		return nil, err
	}
	s.modules = module.New(s.config.modules)
	s.loader = source.NewLoader(symbols.Importer(s.fset), s.fset, s.modules)
	s.checker = check.New(s.loader, s.fset, check.Guess(symbols.Guess), check.PackageNames(symbols.Names), check.Refuse(symbols.Refused), check.Types(s.types))
	packages := symbols.Packages()
	s.registry = rt.New(rt.Config{
		Interpreted: lower.Interpreted,
		Packages:    packages,
		Stdout:      s.output.Printed(),
		Stderr:      s.output.Stderr(),
		Uncaught:    func(v any) bool { _, ok := v.(interface{ Uncatchable() }); return ok },
		Stopped:     s.goroutines.Stopped,
		Stop:        s.goroutines.Check,
		Gone:        s.goroutines.HasEnded,
		Activations: []string{yaegi.Activation, machine.Activation},
	})
	s.program = lower.New(lower.Config{
		Registry: s.registry,
		Packages: packages,
		Importer: s.loader,
		Errors:   &s.unread,
		Generic:  generic.Source,
		StopCall: control.RaceEnabled,
		Machine:  s.machineConfig(packages),
	})
	s.engine = yaegi.New(s.input.Reader(), s.output.Printed(), s.output.Stderr())
	s.tracebacks = diagnostics.NewTracebacks(s.sources, s.program, s.engine)
	s.reporter = diagnostics.NewReporter(s.sources, s.tracebacks, s.registry, s.engine)
	s.goroutines.ReportTo(s.reporter)
	s.registrations = registration.New(s.goroutines, s.registry, s.goroutines.Exit)
	s.library = library.New(library.Config{
		Goroutines: s.goroutines, Tracebacks: s.tracebacks, Values: s.registry, Input: s.input, Output: s.output,
	})
	if err := s.boot(packages); err != nil {
		return nil, fmt.Errorf("starting the interpreter: %w", err)
	}
	s.executing <- struct{}{}
	return s, nil
}

// boot loads the compiled packages and defines what every cell relies on.
func (s *Session) boot(packages map[string]map[string]reflect.Value) error {
	packages["quern/rt/rt"] = s.registry.Symbols()
	library.Replace(packages, s.registry.Overrides())
	s.library.Override(packages)
	library.Replace(packages, s.registrations.Overrides())
	packages["quern/session/session"] = s.symbols()
	if err := s.engine.Use(packages); err != nil {
		return err
	}
	for _, src := range []string{"var stopʹ bool", "var positionʹ int"} {
		if _, err := s.engine.Eval(src); err != nil {
			return err
		}
	}
	var stop *bool
	if err := address(s.engine, "stopʹ", &stop); err != nil {
		return err
	}
	s.flag.SetVariable(stop)
	cell, unit, err := s.load(context.Background(), 0, fmt.Sprintf("var ctx context.Context\nvar %s func(int, ...any)", magic.Name))
	if err != nil {
		return err
	}
	s.commit(cell, unit)
	if err := address(s.engine, s.program.Name(cell.Vars[0]), &s.context); err != nil {
		return err
	}
	if err := address(s.engine, s.program.Name(cell.Vars[1]), &s.command); err != nil {
		return err
	}
	*s.command = s.runCommand
	return nil
}

// types are those that the run time keeps.
func (s *Session) types() []types.Type { return s.registry.Types() }

// address sets p to the address of a variable of lowered code.
func address[T any](e interpreter, name string, p **T) error {
	v, err := e.Eval("&" + name)
	if err != nil {
		return err
	}
	var ok bool
	if *p, ok = v.Interface().(*T); !ok {
		return fmt.Errorf("&%s is a %s, not a %T", name, v.Type(), *p)
	}
	return nil
}

// load checks and lowers a cell and has yaegi compile it. After an error
// nothing of it is left.
func (s *Session) load(ctx context.Context, number int, src string) (*check.Cell, *lower.Unit, error) {
	s.loader.Begin(ctx)
	cell, err := s.checker.Check(ctx, number, src)
	if err != nil {
		return nil, nil, err
	}
	if err := s.runPackages(ctx, cell); err != nil {
		s.checker.Discard(cell)
		return nil, nil, err
	}
	unit, err := s.program.Lower(ctx, cell)
	if err != nil {
		s.checker.Discard(cell)
		return nil, nil, err
	}
	if err := s.compile(ctx, unit); err != nil {
		s.program.Discard(unit)
		if unit, err = s.again(ctx, cell, err); err != nil {
			s.checker.Discard(cell)
			return nil, nil, err
		}
	}
	return cell, unit, nil
}

// compile hands the declarations of a unit to yaegi. When ctx ends it returns its
// error: yaegi then has functions that nothing calls.
func (s *Session) compile(ctx context.Context, unit *lower.Unit) error {
	if len(unit.Types) > 0 {
		if err := s.engine.Use(map[string]map[string]reflect.Value{lower.TypesPath + "/types": unit.Types}); err != nil {
			return &yaegi.Error{Reason: err.Error()}
		}
	}
	for _, src := range unit.Imports {
		if s.imported[src] {
			continue
		}
		if _, err := s.engine.Eval(src); err != nil {
			return internal(err)
		}
		s.imported[src] = true
	}
	for _, src := range unit.Pieces() {
		if err := s.evaluate(ctx, src); err != nil {
			return err
		}
	}
	for _, function := range unit.Values {
		if err := s.engine.CallValue(function); err != nil {
			return internal(err)
		}
	}
	if err := s.link(unit); err != nil {
		return internal(err)
	}
	return s.evaluate(ctx, unit.Register)
}

// evaluate has yaegi evaluate src, unless ctx has ended.
func (s *Session) evaluate(ctx context.Context, src string) error {
	if err := ctx.Err(); err != nil || src == "" {
		return err
	}
	_, err := s.engine.Eval(src)
	return internal(err)
}

// internal makes a fault of a panic that no code of the user has caused.
func internal(err error) error {
	var p *yaegi.Panic
	if errors.As(err, &p) {
		return &yaegi.Error{Reason: fmt.Sprint(p.Value)}
	}
	return err
}

func (s *Session) commit(cell *check.Cell, unit *lower.Unit) {
	s.checker.Commit(cell)
	s.program.Commit(unit)
	s.sources.AddCell(cell, s.program.Name)
}

// Cell returns the number of the cell that the calling goroutine comes from, also
// through goroutines of compiled code; 0 if it comes from none.
func (s *Session) Cell() int { return s.goroutines.Cell() }

// Close interrupts the running cell and ends the session.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Interrupt()
	select {
	case <-s.executing:
		if s.flag.Ending() == 0 {
			s.registry.Close()
		}
		s.executing <- struct{}{}
	default: // a cell runs
	}
	return nil
}
