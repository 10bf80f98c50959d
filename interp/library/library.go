package library

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stream"
	"github.com/quernlab/quern/interp/vm"
)

// A Library has the functions of one session.
type Library struct {
	// ChildInputDelay is how long a child process runs before the session reads input for
	// it: most children do not read.
	ChildInputDelay time.Duration

	config   Config
	callers  *callers
	tests    *tests
	contexts *contexts
	kernels  *kernels
}

// Config has what a Library needs from the session.
type Config struct {
	Goroutines Goroutines
	Tracebacks Tracebacks
	Values     Values
	Input      *stream.Input
	Output     *stream.Output
	Panics     Panics
	// Declarations has the source of the functions that cells declare.
	Declarations Declarations
}

// New returns a Library.
func New(c Config) *Library {
	callers := &callers{tracebacks: c.Tracebacks, stderr: c.Output.Stderr(), counters: map[any]uintptr{}, replaced: map[uintptr]string{}}
	tests := &tests{tracebacks: c.Tracebacks, values: c.Values, goroutines: c.Goroutines, output: c.Output, panics: c.Panics}
	contexts := &contexts{c.Goroutines}
	return &Library{ChildInputDelay: childInputDelay, config: c, callers: callers, tests: tests, contexts: contexts,
		kernels: &kernels{tracebacks: c.Tracebacks, declarations: c.Declarations, contexts: contexts}}
}

// FunctionPointer returns the number that stands for the code of an interpreted function, of which
// runtime.FuncForPC returns the name. ok is false for other functions.
func (l *Library) FunctionPointer(v reflect.Value) (pc uintptr, ok bool) {
	return l.callers.FunctionPointer(v)
}

// Declared reports whether the code of pc is a declared function, and neither a literal nor a method value.
func (l *Library) Declared(pc uintptr) bool {
	f, ok := l.callers.at(pc)
	return ok && f.Function != "" && !literalName.MatchString(f.Function)
}

// literalName matches the names of function literals and method values.
var literalName = regexp.MustCompile(`\.func\d|-fm$`)

// Override replaces functions in the tables of packages by those of the library.
func (l *Library) Override(packages Packages) {
	c := l.config
	logs := &loggers{tracebacks: c.Tracebacks}
	logs.watch() // web servers log what goes wrong in a handler
	for _, p := range []Packages{
		(&printer{c.Input, c.Output}).functions(),
		(&timers{c.Goroutines, c.Values}).functions(),
		(&servers{c.Goroutines}).functions(),
		(&children{c.Goroutines, c.Input, func() time.Duration { return l.ChildInputDelay }}).functions(),
		l.callers.functions(),
		logs.functions(c.Output),
		(&exits{c.Goroutines, logs}).functions(),
		l.tests.functions(),
		browser(),
	} {
		Replace(packages, p)
		l.callers.replace(p)
	}
	stream.Redirect(packages, c.Input, c.Output)
	l.contexts.wrap(packages)
	l.kernels.wrap(packages)
}

// Method returns what cells call instead of a method of a compiled type; first is the index of its first parameter in the function,
// which may have the receiver before.
func (l *Library) Method(receiver reflect.Type, method reflect.Value, first int) reflect.Value {
	return l.contexts.method(receiver, method, first)
}

// Packages are functions and variables by package, such as "fmt/fmt", and name.
type Packages = map[string]map[string]reflect.Value

// Replace replaces functions in the tables of packages.
func Replace(packages, by Packages) {
	for path, functions := range by {
		maps.Copy(packages[path], functions)
	}
}

// functionsOf returns the values of functions.
func functionsOf(functions map[string]any) map[string]reflect.Value {
	values := map[string]reflect.Value{}
	for name, f := range functions {
		if reflect.TypeOf(f).Kind() != reflect.Func {
			panic(fmt.Sprintf("%s is not a function", name))
		}
		values[name] = reflect.ValueOf(f)
	}
	return values
}

// Goroutines finds and ends the goroutines of cells.
type Goroutines interface {
	// Member returns the member that the calling goroutine belongs to, or nil.
	Member() *goroutine.Member
	// Enter makes the calling goroutine, and those that compiled code starts from it, belong to a member.
	Enter(*goroutine.Member)
	// EndIfStopped ends the calling goroutine if its run is stopped.
	EndIfStopped(*goroutine.Member)
	// BeginCall counts a call that returns what it has when the run is stopped, until end is called.
	BeginCall(*goroutine.Member) (end func())
	// Guard wraps f so that it can be the function of a go statement.
	Guard(cell int, f func()) func()
	// AddTimer records a timer that calls a function of a cell.
	AddTimer(*time.Timer)
	// Exit is os.Exit for cells.
	Exit(code int)
}

// Tracebacks returns the positions of functions of cells on the stack of the calling goroutine.
type Tracebacks interface {
	Locations(yield func(diagnostics.Location) bool)
	Caller(n int) (diagnostics.Location, bool)
	StackText() string
	Function(vm.FunctionID) (l diagnostics.Location, ok bool)
}

// Declarations has the source of declarations of cells.
type Declarations interface {
	// SourceOf returns a Go file with a function and what it uses.
	SourceOf(function string) (text string, ok bool)
}

// Panics describes the panic of the calling goroutine.
type Panics interface {
	Panic(value any) *diagnostics.Error
}

// Values knows the types of cells.
type Values interface {
	// TypeID returns a number for the type of x if a cell has declared it, and -1 for any other.
	TypeID(x any) int
	SetFinalizer(x, finalizer any, run func(finalize func()))
}
