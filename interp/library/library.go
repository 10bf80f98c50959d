package library

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"time"

	"github.com/quernlab/quern/interp/diagnostics"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/stream"
)

// Packages are functions and variables by package, such as "fmt/fmt", and name.
type Packages = map[string]map[string]reflect.Value

// A Library has the functions of a session.
type Library struct {
	// ChildInputDelay is how long a child process runs before the session reads input for
	// it: most children do not read.
	ChildInputDelay time.Duration

	config Config
}

// Config is what a Library needs of the session.
type Config struct {
	Goroutines Goroutines
	Tracebacks Tracebacks
	Values     Values
	Input      *stream.Input
	Output     *stream.Output
}

// Goroutines finds and ends the goroutines of cells.
type Goroutines interface {
	// Member returns the member that the calling goroutine belongs to, or nil.
	Member() *goroutine.Member
	// EndIfStopped ends the calling goroutine if its run is stopped.
	EndIfStopped(*goroutine.Member)
	// Guard returns f as a function that can be the first one of a goroutine.
	Guard(cell int, f func()) func()
	// Exit is os.Exit for cells.
	Exit(code int)
}

// Tracebacks says where the functions of cells are on the stack of the calling goroutine.
type Tracebacks interface {
	Locations(yield func(diagnostics.Location) bool)
	Caller(n int) (diagnostics.Location, bool)
	StackText() string
}

// Values prints and scans values of lowered code.
type Values interface {
	Sprint(a ...any) string
	Sprintf(format string, a ...any) string
	Sprintln(a ...any) string
	Fprint(w io.Writer, a ...any) (int, error)
	Fprintf(w io.Writer, format string, a ...any) (int, error)
	Fprintln(w io.Writer, a ...any) (int, error)
	Fscan(r io.Reader, a ...any) (int, error)
	Fscanf(r io.Reader, format string, a ...any) (int, error)
	Fscanln(r io.Reader, a ...any) (int, error)
	SetFinalizer(x, finalizer any, run func(finalize func()))
}

// New returns a Library.
func New(c Config) *Library { return &Library{ChildInputDelay: childInputDelay, config: c} }

// Override puts the functions of the library into the tables of packages.
func (l *Library) Override(packages Packages) {
	c := l.config
	logs := &loggers{tracebacks: c.Tracebacks}
	logs.watch() // web servers log what goes wrong in a handler
	for _, p := range []Packages{
		(&printer{c.Values, c.Input, c.Output}).functions(),
		(&timers{c.Goroutines, c.Values}).functions(),
		(&servers{c.Goroutines}).functions(),
		(&children{c.Goroutines, c.Input, func() time.Duration { return l.ChildInputDelay }}).functions(),
		(&callers{tracebacks: c.Tracebacks, stderr: c.Output.Stderr(), counters: map[diagnostics.Location]uintptr{}}).functions(),
		logs.functions(c.Output),
		(&exits{c.Goroutines, logs, c.Values}).functions(),
		(&tests{tracebacks: c.Tracebacks, values: c.Values}).functions(),
	} {
		Replace(packages, p)
	}
	stream.Redirect(packages, c.Input, c.Output)
	(&contexts{c.Goroutines}).wrap(packages)
}

// Replace puts functions into the tables of packages.
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
