package interp

import (
	"encoding"
	"errors"
	"flag"
	"os"
	"reflect"
)

// Package flag for cells. flag.CommandLine and flag.Usage are those of the session: quern has flags of its own.

// flagDefinitions are the methods of a flag.FlagSet that define a flag, and flagUses the others that functions of the
// package have the names of.
var (
	flagDefinitions = map[string]any{
		"Bool": (*flag.FlagSet).Bool, "BoolFunc": (*flag.FlagSet).BoolFunc, "BoolVar": (*flag.FlagSet).BoolVar,
		"Duration": (*flag.FlagSet).Duration, "DurationVar": (*flag.FlagSet).DurationVar,
		"Float64": (*flag.FlagSet).Float64, "Float64Var": (*flag.FlagSet).Float64Var, "Func": (*flag.FlagSet).Func,
		"Int": (*flag.FlagSet).Int, "IntVar": (*flag.FlagSet).IntVar, "Int64": (*flag.FlagSet).Int64, "Int64Var": (*flag.FlagSet).Int64Var,
		"String": (*flag.FlagSet).String, "StringVar": (*flag.FlagSet).StringVar, "Uint": (*flag.FlagSet).Uint, "UintVar": (*flag.FlagSet).UintVar,
		"Uint64": (*flag.FlagSet).Uint64, "Uint64Var": (*flag.FlagSet).Uint64Var,
	}
	flagUses = map[string]any{
		"Arg": (*flag.FlagSet).Arg, "Args": (*flag.FlagSet).Args, "Lookup": (*flag.FlagSet).Lookup, "NArg": (*flag.FlagSet).NArg,
		"NFlag": (*flag.FlagSet).NFlag, "Parsed": (*flag.FlagSet).Parsed, "PrintDefaults": (*flag.FlagSet).PrintDefaults, "Set": (*flag.FlagSet).Set,
		"Visit": (*flag.FlagSet).Visit, "VisitAll": (*flag.FlagSet).VisitAll,
	}
)

// newCommandLine begins with no flags, as a program does.
func (s *Session) newCommandLine() {
	s.commandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	s.commandLine.Usage = func() { s.usage() }
	s.usage = func() {
		f := s.commandLine
		// As package flag writes it.
		_, _ = f.Output().Write([]byte("Usage of " + os.Args[0] + ":\n"))
		f.PrintDefaults()
	}
}

// flagFunctions are the functions and variables of package flag.
func (s *Session) flagFunctions() map[string]reflect.Value {
	functions := map[string]reflect.Value{
		"CommandLine": reflect.ValueOf(&s.commandLine).Elem(),
		"Usage":       reflect.ValueOf(&s.usage).Elem(),
		"Parse": reflect.ValueOf(func() {
			// It ends the process where it fails, or returns.
			_ = s.parseFlags(s.commandLine, os.Args[1:])
		}),
		"Var": reflect.ValueOf(func(value flag.Value, name, usage string) { s.flagVar(s.commandLine, value, name, usage) }),
		"TextVar": reflect.ValueOf(func(p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) {
			s.textVar(s.commandLine, p, name, value, usage)
		}),
	}
	for name, method := range flagDefinitions {
		functions[name] = s.ofCommandLine(s.defining(method))
	}
	for name, method := range flagUses {
		functions[name] = s.ofCommandLine(reflect.ValueOf(method))
	}
	return functions
}

// flagMethods are those of a flag.FlagSet, for lowered code.
func (s *Session) flagMethods() map[string]reflect.Value {
	methods := map[string]reflect.Value{
		"FlagParse": reflect.ValueOf(s.parseFlags), "FlagVar": reflect.ValueOf(s.flagVar), "TextVar": reflect.ValueOf(s.textVar),
	}
	for name, method := range flagDefinitions {
		methods["Flag"+name] = s.defining(method)
	}
	return methods
}

// ofCommandLine is the function that calls a method of s.commandLine.
func (s *Session) ofCommandLine(method reflect.Value) reflect.Value {
	t := method.Type()
	var in, out []reflect.Type
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, false), func(args []reflect.Value) []reflect.Value {
		return method.Call(append([]reflect.Value{reflect.ValueOf(s.commandLine)}, args...))
	})
}

// defining is a method that defines the flag that its first parameter of type string names, which a cell may define again.
func (s *Session) defining(method any) reflect.Value {
	f := reflect.ValueOf(method)
	name := 1
	for f.Type().In(name).Kind() != reflect.String {
		name++
	}
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) (results []reflect.Value) {
		s.defineFlag(args[0].Interface().(*flag.FlagSet), args[name].String(), func() { results = f.Call(args) })
		return results
	})
}

func (s *Session) flagVar(f *flag.FlagSet, value flag.Value, name, usage string) {
	s.defineFlag(f, name, func() { s.registry.FlagVar(f, value, name, usage) })
}

func (s *Session) textVar(f *flag.FlagSet, p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string) {
	s.defineFlag(f, name, func() { s.registry.TextVar(f, p, name, value, usage) })
}

// defineFlag defines a flag by a call of define. One that an earlier cell has defined is removed before.
func (s *Session) defineFlag(f *flag.FlagSet, name string, define func()) {
	if f == nil {
		define()
		return
	}
	key := within(s, "flag", f, name)
	if s.earlier(key) != nil {
		removeFlag(f, name)
	}
	define()
	s.register(key, name)
}

// removeFlag takes a flag out of a set. Package flag has no way to, so all others are put into a new one.
func removeFlag(f *flag.FlagSet, name string) {
	set := map[string]bool{}
	f.Visit(func(x *flag.Flag) { set[x.Name] = true })
	rest := flag.NewFlagSet(f.Name(), f.ErrorHandling())
	f.VisitAll(func(x *flag.Flag) {
		if x.Name == name {
			return
		}
		rest.Var(anything{}, x.Name, x.Usage)
		if set[x.Name] {
			// It notes that the flag was set; the value is set below.
			_ = rest.Set(x.Name, "")
		}
		*rest.Lookup(x.Name) = *x
	})
	if f.Parsed() {
		// What follows -- is no flag.
		_ = rest.Parse(append([]string{"--"}, f.Args()...))
	}
	if w := f.Output(); w != os.Stderr {
		rest.SetOutput(w)
	}
	rest.Usage = f.Usage
	*f = *rest
}

// anything is a flag.Value that takes any text.
type anything struct{}

func (anything) String() string   { return "" }
func (anything) Set(string) error { return nil }

// parseFlags is f.Parse(args).
func (s *Session) parseFlags(f *flag.FlagSet, args []string) error {
	if f.ErrorHandling() != flag.ExitOnError {
		return f.Parse(args)
	}
	f.Init(f.Name(), flag.ContinueOnError)
	err := f.Parse(args)
	f.Init(f.Name(), flag.ExitOnError)
	switch {
	case errors.Is(err, flag.ErrHelp):
		s.goroutines.Exit(0)
	case err != nil:
		s.goroutines.Exit(2)
	}
	return nil
}
