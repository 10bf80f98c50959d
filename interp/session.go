package interp

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/symbols"
)

// A Session runs cells one after the other and keeps what they define.
type Session struct {
	config     *config
	fset       *token.FileSet
	checker    *check.Checker
	program    *lower.Program
	registry   *rt.Registry
	engine     engine
	imported   map[string]bool // import declarations that the engine has seen
	goroutines goroutines

	// Variables of lowered code, by address.
	stopFlag *bool
	position *int
	context  *context.Context

	executing chan struct{} // holds a token while no cell runs
	running   atomic.Pointer[run]
	stopping  atomic.Bool // what sessionʹ.Stopped returns
	interrupt atomic.Pointer[context.CancelFunc]

	mu        sync.Mutex // guards the fields below
	positions []token.Position
	sources   map[int]string    // by cell number, for messages
	functions map[string]extent // where they are declared, by their name in lowered code
	closed    bool
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
		executing: make(chan struct{}, 1),
		sources:   map[int]string{},
		functions: map[string]extent{},
	}
	importer := symbols.Importer(s.fset)
	s.checker = check.New(importer, s.fset, check.Guess(symbols.Guess))
	packages := symbols.Packages()
	s.registry = rt.New(rt.Config{
		Interpreted: lower.Interpreted,
		Packages:    packages,
		Stdout:      s.config.stdout,
		Stderr:      s.config.stderr,
		Uncaught:    func(v any) bool { _, ok := v.(Interruption); return ok },
	})
	s.program = lower.New(lower.Config{
		Registry: s.registry,
		Packages: packages,
		Importer: importer,
		Generic:  generic.Source,
		StopCall: raceEnabled,
	})
	s.engine = newYaegi(s.config.stdin, s.config.stdout, s.config.stderr)
	if err := s.boot(packages); err != nil {
		return nil, fmt.Errorf("starting the interpreter: %w", err)
	}
	s.executing <- struct{}{}
	return s, nil
}

// boot loads the compiled packages and defines what every cell relies on.
func (s *Session) boot(packages map[string]map[string]reflect.Value) error {
	replace(packages, s.registry.Overrides())
	replace(packages, s.overrides())
	packages["quern/rt/rt"] = s.registry.Symbols()
	packages["quern/session/session"] = s.symbols()
	if err := s.engine.Use(packages); err != nil {
		return err
	}
	for _, src := range []string{"var stopʹ bool", "var positionʹ int"} {
		if _, err := s.engine.Eval(src); err != nil {
			return err
		}
	}
	if err := address(s.engine, "stopʹ", &s.stopFlag); err != nil {
		return err
	}
	if err := address(s.engine, "positionʹ", &s.position); err != nil {
		return err
	}
	cell, unit, err := s.load(0, "var ctx context.Context")
	if err != nil {
		return err
	}
	s.commit(cell, unit)
	return address(s.engine, s.program.Name(cell.Vars[0]), &s.context)
}

// address sets p to the address of a variable of lowered code.
func address[T any](e engine, name string, p **T) error {
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

// load checks and lowers a cell and has the engine compile it. After an error
// nothing of it is left.
func (s *Session) load(number int, src string) (*check.Cell, *lower.Unit, error) {
	cell, err := s.checker.Check(number, src)
	if err != nil {
		return nil, nil, err
	}
	unit, err := s.program.Lower(cell)
	if err != nil {
		s.checker.Discard(cell)
		return nil, nil, err
	}
	if err := s.compile(unit); err != nil {
		s.program.Discard(unit)
		s.checker.Discard(cell)
		return nil, nil, err
	}
	return cell, unit, nil
}

// compile hands the declarations of a unit to the engine.
func (s *Session) compile(unit *lower.Unit) error {
	if len(unit.Types) > 0 {
		if err := s.engine.Use(map[string]map[string]reflect.Value{lower.TypesPath + "/types": unit.Types}); err != nil {
			return &engineError{err.Error()}
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
	for _, src := range []string{unit.Source, unit.Register} {
		if src == "" {
			continue
		}
		if _, err := s.engine.Eval(src); err != nil {
			return internal(err)
		}
	}
	return nil
}

// internal makes a fault of a panic that no code of the user has caused.
func internal(err error) error {
	var p *panicError
	if errors.As(err, &p) {
		return &engineError{fmt.Sprint(p.value)}
	}
	return err
}

func (s *Session) commit(cell *check.Cell, unit *lower.Unit) {
	s.checker.Commit(cell)
	s.program.Commit(unit)
	s.noteFunctions(cell)
	s.mu.Lock()
	s.positions = unit.Positions
	s.mu.Unlock()
}

// Execute runs one cell: all of it is checked before any of it runs, so a cell
// that does not compile changes nothing. Cancelling ctx interrupts the cell, as
// Interrupt does. The error is an *Error. Executing two cells at once is not
// possible: the second waits for the first.
func (s *Session) Execute(ctx context.Context, cell int, src string) (Result, error) {
	if err := s.acquire(ctx); err != nil {
		return Result{}, err
	}
	s.mu.Lock()
	s.sources[cell] = src
	s.mu.Unlock()
	checked, unit, err := s.load(cell, src)
	if err != nil {
		s.release()
		return Result{}, s.compileError(cell, err)
	}
	s.commit(checked, unit)
	for _, e := range checked.Broken {
		fmt.Fprintf(s.config.stderr, "note: this cell breaks %s\n", strings.ReplaceAll(brokenNote(e), "\n", "\n      "))
	}
	r := newRun(cell)
	if err := s.run(ctx, r, unit); err != nil {
		return Result{}, err
	}
	defer s.release()
	defer s.checker.Release(checked)
	if err := s.unreadError(checked); err != nil {
		return Result{}, err
	}
	return s.render(r, checked)
}

// brokenNote is "g (cell[2]:1:25): not enough arguments in call to f".
func brokenNote(e *check.Error) string {
	name, msg, _ := strings.Cut(e.Msg, ": ")
	return fmt.Sprintf("%s (%s): %s", name, e.Pos, msg)
}

func (s *Session) acquire(ctx context.Context) error {
	select {
	case <-s.executing:
	case <-ctx.Done():
		return &Error{Name: nameInterrupted, Value: "the cell before has not ended yet"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.executing <- struct{}{}
		return &Error{Name: nameInternal, Value: "the session is closed"}
	}
	return nil
}

func (s *Session) release() { s.executing <- struct{}{} }

// run runs the body of a cell. It releases the session when it returns an
// error, or when the body ends after Execute gave up waiting for it.
func (s *Session) run(ctx context.Context, r *run, unit *lower.Unit) error {
	ctx, cancel := context.WithCancel(ctx)
	*s.context = ctx
	*s.position = 0
	s.running.Store(r)
	s.interrupt.Store(&cancel)
	ended := make(chan error, 1)
	go func() {
		err := error(&panicError{errGoexit})
		defer func() { ended <- err }()
		defer s.goroutines.enter(r)()
		_, err = s.engine.Eval(unit.Body)
	}()
	finish := func() {
		s.interrupt.Store(nil)
		s.running.Store(nil)
		s.setStop(false)
		s.engine.Resume()
		s.engine.Forget(strings.TrimSuffix(unit.Body, "()"), strings.TrimSuffix(unit.Register, "()"))
		cancel()
	}
	err, stuck := s.wait(ctx, r, ended)
	if stuck {
		go func() {
			<-ended
			finish()
			s.release()
		}()
		return &Error{Name: nameInterrupted, Value: "the interrupted cell is in compiled code that does not return: " +
			"the session cannot run cells until it does; restart to go on without it", Stuck: true}
	}
	var failure error
	switch {
	case r.isStopped():
		failure = s.interruptedError()
	case err != nil:
		failure = s.bodyError(err)
	}
	finish()
	if failure != nil {
		s.release()
	}
	return failure
}

var errGoexit = errors.New("runtime.Goexit was called by the cell")

// wait waits for the end of a body and, when ctx is cancelled, brings it about.
func (s *Session) wait(ctx context.Context, r *run, ended <-chan error) (err error, stuck bool) {
	select {
	case err := <-ended:
		return err, false
	case <-ctx.Done():
	}
	r.stop()
	s.setStop(true)
	timer := time.NewTimer(breakAfter)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err, false
	case <-timer.C:
	}
	s.engine.Break()
	timer.Reset(giveUpAfter)
	select {
	case err := <-ended:
		return err, false
	case <-timer.C:
		return nil, true
	}
}

// setStop raises or lowers the flag that lowered code checks.
func (s *Session) setStop(stop bool) {
	s.stopping.Store(stop)
	if !raceEnabled {
		*s.stopFlag = stop
	}
}

// Interrupt ends the cell that is running, if any, as soon as its code allows,
// and cancels its ctx. Variables keep their values.
func (s *Session) Interrupt() {
	if cancel := s.interrupt.Load(); cancel != nil {
		(*cancel)()
	}
}

// Close interrupts the running cell and ends the session.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Interrupt()
	return nil
}

// Evaluate gives the value of one expression in the scope of the session. It
// waits for a running cell.
func (s *Session) Evaluate(ctx context.Context, expr string) (Result, error) {
	if !isExpression(expr) {
		return Result{}, &Error{Name: nameCompile, Value: fmt.Sprintf("%q is not an expression", expr)}
	}
	if err := s.acquire(ctx); err != nil {
		return Result{}, err
	}
	const number = 0 // no cell has it
	s.mu.Lock()
	s.sources[number] = expr
	s.mu.Unlock()
	cell, unit, err := s.load(number, expr)
	if err != nil {
		s.release()
		return Result{}, s.compileError(number, err)
	}
	s.mu.Lock()
	s.positions = unit.Positions
	s.mu.Unlock()
	// Nothing of it is kept; what it put into interfaces may live on.
	defer s.checker.Discard(cell)
	defer s.program.Discard(unit)
	r := newRun(number)
	if err := s.run(ctx, r, unit); err != nil {
		return Result{}, err
	}
	defer s.release()
	return s.render(r, cell)
}
