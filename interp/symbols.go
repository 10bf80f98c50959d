package interp

import (
	"io"
	"log"
	"maps"
	"os"
	"reflect"

	"github.com/quernlab/quern/interp/diagnostics"
)

// symbols is the table of the package "quern/session", which lowered code calls:
//
//	Result(values...)          the values of the cell's last expression
//	Go(cell, f)                a go statement
//	Guard(cell, f) func()      f, to be run by a goroutine of compiled code
//	Stop()                     ends interrupted code; called when the stop flag is up
//	Stopped() bool             the stop flag, under the race detector
//	Unread(err, name, cell, line, column)  err is about to be lost and was not read
//	ErrorBegin, ErrorOverwrite, ErrorCheck     the methods of unreadErrors
func (s *Session) symbols() map[string]reflect.Value {
	return map[string]reflect.Value{
		"Result":  reflect.ValueOf(s.setResult),
		"Go":      reflect.ValueOf(s.goroutines.Start),
		"Guard":   reflect.ValueOf(s.goroutines.Guard),
		"Stop":    reflect.ValueOf(s.goroutines.Check),
		"Stopped": reflect.ValueOf(s.flag.Up().Load),
		"Unread":  reflect.ValueOf(s.unread.Lose),

		"ErrorBegin":     reflect.ValueOf(s.unread.Begin),
		"ErrorOverwrite": reflect.ValueOf(s.unread.Overwrite),
		"ErrorCheck":     reflect.ValueOf(s.unread.Check),
	}
}

// overrides are functions of the standard library that a session has its own
// versions of: those that wait, start goroutines, or use the standard streams.
func (s *Session) overrides() map[string]map[string]reflect.Value {
	in := s.stdin
	s.watchLog() // web servers use it for what goes wrong in a handler
	fprint := reflect.ValueOf(func(w io.Writer, a ...any) (int, error) { return s.registry.Fprint(s.standard(w), a...) })
	fprintf := reflect.ValueOf(func(w io.Writer, format string, a ...any) (int, error) {
		return s.registry.Fprintf(s.standard(w), format, a...)
	})
	fprintln := reflect.ValueOf(func(w io.Writer, a ...any) (int, error) { return s.registry.Fprintln(s.standard(w), a...) })
	ofRuntime, ofDebug := s.stacks()
	start, run, output, combined := s.childMethods()
	ofRuntime["SetFinalizer"] = reflect.ValueOf(s.setFinalizer)
	maps.Copy(ofRuntime, (&callers{tracebacks: s.tracebacks, counters: map[diagnostics.Location]uintptr{}}).symbols())
	overrides := map[string]map[string]reflect.Value{
		"quern/rt/rt": {
			"Fprint": fprint, "Fprintf": fprintf, "Fprintln": fprintln,
			"FileRead":  reflect.ValueOf(func(f *os.File, p []byte) (int, error) { return s.reader(f).Read(p) }),
			"FileWrite": reflect.ValueOf(func(f *os.File, p []byte) (int, error) { return s.standard(f).Write(p) }),
			"FileWriteString": reflect.ValueOf(func(f *os.File, text string) (int, error) {
				return io.WriteString(s.standard(f), text)
			}),
			"CommandStart":  reflect.ValueOf(start),
			"CommandRun":    reflect.ValueOf(run),
			"CommandOutput": reflect.ValueOf(output), "CommandCombinedOutput": reflect.ValueOf(combined),
			"LogOutput":    reflect.ValueOf(s.logOutput),
			"SetLogOutput": reflect.ValueOf(func(logger *log.Logger, w io.Writer) { s.setLogOutput(logger, s.standard(w)) }),
		},
		"log/log":         s.logging(),
		"runtime/runtime": ofRuntime, "runtime/debug/debug": ofDebug,
		"time/time":       {"Sleep": reflect.ValueOf(s.sleep), "AfterFunc": reflect.ValueOf(s.afterFunc)},
		"context/context": {"AfterFunc": reflect.ValueOf(s.afterContext)},
		"os/exec/exec":    {"Command": reflect.ValueOf(s.childCommand), "CommandContext": reflect.ValueOf(s.childCommandContext)},
		"os/os":           {"Stdin": reflect.ValueOf(&s.stdinFile).Elem(), "StartProcess": reflect.ValueOf(s.startProcess)},
		"fmt/fmt": {
			"Fprint": fprint, "Fprintf": fprintf, "Fprintln": fprintln,
			"Scan":   reflect.ValueOf(func(a ...any) (int, error) { return s.registry.Fscan(in, a...) }),
			"Scanf":  reflect.ValueOf(func(format string, a ...any) (int, error) { return s.registry.Fscanf(in, format, a...) }),
			"Scanln": reflect.ValueOf(func(a ...any) (int, error) { return s.registry.Fscanln(in, a...) }),
			"Fscan":  reflect.ValueOf(func(r io.Reader, a ...any) (int, error) { return s.registry.Fscan(s.reader(r), a...) }),
			"Fscanf": reflect.ValueOf(func(r io.Reader, format string, a ...any) (int, error) {
				return s.registry.Fscanf(s.reader(r), format, a...)
			}),
			"Fscanln": reflect.ValueOf(func(r io.Reader, a ...any) (int, error) { return s.registry.Fscanln(s.reader(r), a...) }),
		},
	}
	maps.Copy(overrides["quern/rt/rt"], (&tests{session: s}).symbols())
	return overrides
}

// replace puts functions into tables of packages.
func replace(packages, by map[string]map[string]reflect.Value) {
	for key, functions := range by {
		for name, f := range functions {
			packages[key][name] = f
		}
	}
}
