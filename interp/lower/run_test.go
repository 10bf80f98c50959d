package lower_test

import (
	"bytes"
	"context"
	"fmt"
	"go/token"
	"io"
	"maps"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/generic"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/symbols"
	"github.com/quernlab/quern/interp/vm"
	"github.com/quernlab/quern/interp/vm/compile"
	"github.com/quernlab/quern/interp/yaegi"
)

// limit is the maximum time of one program; the longest takes a second.
const limit = 60 * time.Second

// session is a minimal session that can run cells.
type session struct {
	checker  *check.Checker
	program  *lower.Program
	registry *rt.Registry
	engine   *yaegi.Interpreter
	imported bool // the engine has evaluated lower.Import
	output   *buffer
	units    []*lower.Unit
	cell     int
	lost     chan string // panics of goroutines
}

// buffer is the output of cells, which may write from any goroutine.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	to   *os.File // used instead of text if not nil
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.to != nil {
		return b.to.Write(p)
	}
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var packages = sync.OnceValue(symbols.Packages)

// newChecked returns a session that checks and lowers cells, without yaegi.
func newChecked(t testing.TB, options ...func(*lower.Config)) *session {
	t.Helper()
	fset := token.NewFileSet()
	s := &session{output: &buffer{}, lost: make(chan string, 10)}
	importer := symbols.Importer(fset)
	s.checker = check.New(importer, fset, check.Guess(symbols.Guess))
	s.registry = rt.New(rt.Config{Interpreted: lower.Interpreted, Packages: packages(), Stderr: s.output,
		Activations: []string{vm.Activation}})
	machine := withOverrides(s.registry, s.output)
	machine["quern/session/session"] = s.symbols()
	config := lower.Config{Registry: s.registry, Packages: packages(), Importer: importer, Generic: generic.Source,
		Machine: vm.Config{Registry: s.registry}, Compiler: compile.Config{Packages: machine, Interpreted: lower.Interpreted, Guard: s.guard}}
	for _, o := range options {
		o(&config)
	}
	s.program = lower.New(config)
	return s
}

// withOverrides returns the packages with the functions that the run time replaces, and those that print to w.
func withOverrides(registry *rt.Registry, w io.Writer) map[string]map[string]reflect.Value {
	all := maps.Clone(packages())
	overrides := registry.Overrides()
	overrides["fmt/fmt"] = map[string]reflect.Value{
		"Print":   reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprint(w, a...) }),
		"Printf":  reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fprintf(w, format, a...) }),
		"Println": reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprintln(w, a...) }),
	}
	for key, functions := range overrides {
		table := maps.Clone(all[key])
		maps.Copy(table, functions)
		all[key] = table
	}
	all[rt.Methods] = registry.Methods()
	return all
}

func newSession(t testing.TB, options ...func(*lower.Config)) *session {
	t.Helper()
	s := newChecked(t, options...)
	s.engine = yaegi.New(strings.NewReader(""), s.output, s.output)
	return s
}

// symbols returns the package that lowered code calls.
func (s *session) symbols() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Unread": reflect.ValueOf(func(error, string, int, int, int) {}),

		"ErrorBegin": reflect.ValueOf(func(string, int, int, int) {}),
		"ErrorCheck": reflect.ValueOf(func(string, error, string) {}),
		"Defined":    reflect.ValueOf(func(...int) {}),
		"Result": reflect.ValueOf(func(values ...interface{}) {
			for _, v := range values {
				fmt.Fprintf(s.output, "= %v\n", v)
			}
		}),
	}
}

// guard returns a function that calls f and sends its panic to lost.
func (s *session) guard(cell int, f func()) func() {
	return func() {
		defer func() {
			if r := recover(); r != nil {
				s.lost <- fmt.Sprintf("cell %d: %v", cell, rt.Recovered(r))
			}
		}()
		f()
	}
}

// lower checks and lowers a cell.
func (s *session) lower(source string) (*lower.Unit, error) {
	s.cell++
	cell, err := s.checker.Check(context.Background(), s.cell, source)
	if err != nil {
		return nil, err
	}
	unit, err := s.program.Lower(context.Background(), cell)
	if err != nil {
		return nil, err
	}
	s.checker.Commit(cell)
	s.program.Commit(unit)
	s.units = append(s.units, unit)
	return unit, nil
}

// run runs a cell. The error is that of the interpreter or a panic.
func (s *session) run(source string) error {
	unit, err := s.lower(source)
	if err != nil {
		return err
	}
	if err := s.declare(unit); err != nil {
		return err
	}
	if err := unit.Machine.Link(s.engine.Address); err != nil {
		return err
	}
	unit.Machine.LinkMethods()
	if unit.IsEmpty() {
		return nil
	}
	return s.call(unit.Statements())
}

// declare makes yaegi declare the variables of a unit.
func (s *session) declare(unit *lower.Unit) error {
	if unit.Source == "" {
		return nil
	}
	if err := s.engine.Use(map[string]map[string]reflect.Value{lower.TypesPath + "/types": unit.Types}); err != nil {
		return err
	}
	if !s.imported {
		if _, err := s.engine.Eval(lower.Import); err != nil {
			return err
		}
		s.imported = true
	}
	_, err := s.engine.Eval(unit.Source)
	return err
}

// call returns the panic of f as an error.
func (s *session) call(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", rt.Recovered(r))
		}
	}()
	f()
	return nil
}

// runCells runs cells and returns their output and the first error.
func runCells(t *testing.T, cells ...string) (*session, string, error) {
	t.Helper()
	s := newSession(t)
	done := make(chan error, 1)
	go func() {
		for _, c := range cells {
			if err := s.run(c); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		return s, s.output.String(), err
	case <-time.After(limit):
		return s, s.output.String(), fmt.Errorf("not finished after %v", limit)
	}
}

func (s *session) dump() string {
	var b strings.Builder
	for _, u := range s.units {
		fmt.Fprintln(&b, u.Source+u.Machine.Disassemble())
	}
	return b.String()
}

// TestFile runs the cells, separated by lines "//---", of the file in $CELLS.
func TestFile(t *testing.T) {
	file := os.Getenv("CELLS")
	if file == "" {
		t.Skip("for debugging: no $CELLS")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, out, err := runCells(t, strings.Split(string(text), "\n//---\n")...)
	t.Logf("%s\n-- output\n%s\n-- error %v", s.dump(), out, err)
}

// TestProgramFile runs the program in the file $CELLS_PROGRAM with the output of the process. It is meant
// for programs such as those in $GOROOT/test.
func TestProgramFile(t *testing.T) {
	file := os.Getenv("CELLS_PROGRAM")
	if file == "" {
		t.Skip("for debugging: no $CELLS_PROGRAM")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	s.output.to = os.Stdout
	if err := s.run(asCell(string(text))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
