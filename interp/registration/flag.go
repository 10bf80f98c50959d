package registration

import (
	"errors"
	"flag"
	"os"
	"reflect"
)

// flags implements package flag for cells. Its flag.CommandLine and flag.Usage belong to the session, because quern has flags
// of its own.
type flags struct {
	names       *names
	exit        func(code int)
	commandLine *flag.FlagSet
	usage       func()
}

// flagDefinitions are the methods of flag.FlagSet that define a flag. flagUses are the other methods that are also functions
// of package flag.
var (
	flagDefinitions = map[string]any{
		"Bool": (*flag.FlagSet).Bool, "BoolFunc": (*flag.FlagSet).BoolFunc, "BoolVar": (*flag.FlagSet).BoolVar,
		"Duration": (*flag.FlagSet).Duration, "DurationVar": (*flag.FlagSet).DurationVar,
		"Float64": (*flag.FlagSet).Float64, "Float64Var": (*flag.FlagSet).Float64Var, "Func": (*flag.FlagSet).Func,
		"Int": (*flag.FlagSet).Int, "IntVar": (*flag.FlagSet).IntVar, "Int64": (*flag.FlagSet).Int64, "Int64Var": (*flag.FlagSet).Int64Var,
		"String": (*flag.FlagSet).String, "StringVar": (*flag.FlagSet).StringVar, "TextVar": (*flag.FlagSet).TextVar, "Uint": (*flag.FlagSet).Uint, "UintVar": (*flag.FlagSet).UintVar,
		"Uint64": (*flag.FlagSet).Uint64, "Uint64Var": (*flag.FlagSet).Uint64Var, "Var": (*flag.FlagSet).Var,
	}
	flagUses = map[string]any{
		"Arg": (*flag.FlagSet).Arg, "Args": (*flag.FlagSet).Args, "Lookup": (*flag.FlagSet).Lookup, "NArg": (*flag.FlagSet).NArg,
		"NFlag": (*flag.FlagSet).NFlag, "Parsed": (*flag.FlagSet).Parsed, "PrintDefaults": (*flag.FlagSet).PrintDefaults, "Set": (*flag.FlagSet).Set,
		"Visit": (*flag.FlagSet).Visit, "VisitAll": (*flag.FlagSet).VisitAll,
	}
)

// newCommandLine sets flag.CommandLine to an empty flag set, as at the start of a program.
func (f *flags) newCommandLine() {
	f.commandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	f.commandLine.Usage = func() { f.usage() }
	f.usage = func() {
		set := f.commandLine
		// As package flag does.
		_, _ = set.Output().Write([]byte("Usage of " + os.Args[0] + ":\n"))
		set.PrintDefaults()
	}
}

// functions returns the functions and variables of package flag.
func (f *flags) functions() map[string]reflect.Value {
	functions := map[string]reflect.Value{
		"CommandLine": reflect.ValueOf(&f.commandLine).Elem(),
		"Usage":       reflect.ValueOf(&f.usage).Elem(),
		"Parse": reflect.ValueOf(func() {
			// On an error it ends the program; the command line does not return one.
			_ = f.parse(f.commandLine, os.Args[1:])
		}),
	}
	for name, method := range flagDefinitions {
		functions[name] = f.ofCommandLine(f.defining(method))
	}
	for name, method := range flagUses {
		functions[name] = f.ofCommandLine(reflect.ValueOf(method))
	}
	return functions
}

// methods returns the methods of flag.FlagSet, for lowered code.
func (f *flags) methods() map[string]reflect.Value {
	methods := map[string]reflect.Value{"(*flag.FlagSet).Parse": reflect.ValueOf(f.parse)}
	for name, method := range flagDefinitions {
		methods["(*flag.FlagSet)."+name] = f.defining(method)
	}
	return methods
}

// ofCommandLine returns a function that calls a method on flag.CommandLine.
func (f *flags) ofCommandLine(method reflect.Value) reflect.Value {
	t := method.Type()
	var in, out []reflect.Type
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, false), func(args []reflect.Value) []reflect.Value {
		return method.Call(append([]reflect.Value{reflect.ValueOf(f.commandLine)}, args...))
	})
}

// defining wraps a method that defines a flag, so that a later cell can define the flag again. The method's first parameter of
// type string is the name of the flag.
func (f *flags) defining(method any) reflect.Value {
	define := reflect.ValueOf(method)
	name := 1
	for define.Type().In(name).Kind() != reflect.String {
		name++
	}
	return reflect.MakeFunc(define.Type(), func(args []reflect.Value) (results []reflect.Value) {
		f.define(args[0].Interface().(*flag.FlagSet), args[name].String(), func() { results = define.Call(args) })
		return results
	})
}

// define calls add, which defines a flag. It first removes a flag of this name that an earlier cell has defined.
func (f *flags) define(set *flag.FlagSet, name string, add func()) {
	if set == nil {
		add()
		return
	}
	k := within(f.names, "flag", set, name)
	if f.names.earlier(k) != nil {
		removeFlag(set, name)
	}
	add()
	f.names.add(k, name)
}

// parse is set.Parse(args).
func (f *flags) parse(set *flag.FlagSet, args []string) error {
	if set.ErrorHandling() != flag.ExitOnError {
		return set.Parse(args)
	}
	set.Init(set.Name(), flag.ContinueOnError)
	err := set.Parse(args)
	set.Init(set.Name(), flag.ExitOnError)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.exit(0)
	case err != nil:
		f.exit(2)
	}
	return nil
}

// removeFlag removes a flag from a set. Package flag has no function for that, so it copies all other flags to a new set.
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
			// Only marks the flag as set; the value is copied below.
			_ = rest.Set(x.Name, "")
		}
		*rest.Lookup(x.Name) = *x
	})
	if f.Parsed() {
		// What follows -- is not a flag.
		_ = rest.Parse(append([]string{"--"}, f.Args()...))
	}
	if w := f.Output(); w != os.Stderr {
		rest.SetOutput(w)
	}
	rest.Usage = f.Usage
	*f = *rest
}

// anything is a flag.Value that accepts any text.
type anything struct{}

func (anything) String() string   { return "" }
func (anything) Set(string) error { return nil }
