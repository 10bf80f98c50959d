package library

import (
	"reflect"
	"regexp"
	"time"

	"github.com/quernlab/quern/interp/stream"
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
	callers := &callers{tracebacks: c.Tracebacks, stderr: c.Output.Stderr(), counters: map[any]uintptr{}}
	tests := &tests{tracebacks: c.Tracebacks, values: c.Values, goroutines: c.Goroutines, output: c.Output, panics: c.Panics}
	return &Library{ChildInputDelay: childInputDelay, config: c, callers: callers, tests: tests, contexts: &contexts{c.Goroutines}}
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
	}
	stream.Redirect(packages, c.Input, c.Output)
	l.contexts.wrap(packages)
	(&kernels{c.Tracebacks, c.Declarations}).wrap(packages)
}

// Method returns what cells call instead of a method of a compiled type; first is the index of its first parameter in the function,
// which may have the receiver before.
func (l *Library) Method(receiver reflect.Type, method reflect.Value, first int) reflect.Value {
	return l.contexts.method(receiver, method, first)
}
