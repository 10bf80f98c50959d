package rt

import (
	"flag"
	"log"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"testing"
)

// Path is the import path of Symbols.
const Path = "quern/rt"

// Symbols returns what code of cells calls instead of functions and methods of compiled packages.
func (r *Registry) Symbols() map[string]reflect.Value {
	table := map[string]any{
		"Lock":          r.Lock,
		"LockRW":        r.LockRW,
		"RLock":         r.RLock,
		"WaitGroupWait": r.WaitGroupWait,

		"FileRead":        (*os.File).Read,
		"FileWrite":       (*os.File).Write,
		"FileWriteString": (*os.File).WriteString,

		"CommandStart":          (*exec.Cmd).Start,
		"CommandRun":            (*exec.Cmd).Run,
		"CommandOutput":         (*exec.Cmd).Output,
		"CommandCombinedOutput": (*exec.Cmd).CombinedOutput,

		"GrowBuilder": growBuilder,
		"GrowBuffer":  growBuffer,

		"LogFatal":          (*log.Logger).Fatal,
		"LogFatalf":         (*log.Logger).Fatalf,
		"LogFatalln":        (*log.Logger).Fatalln,
		"FlagParse":         (*flag.FlagSet).Parse,
		"FlagBool":          (*flag.FlagSet).Bool,
		"FlagBoolFunc":      (*flag.FlagSet).BoolFunc,
		"FlagBoolVar":       (*flag.FlagSet).BoolVar,
		"FlagDuration":      (*flag.FlagSet).Duration,
		"FlagDurationVar":   (*flag.FlagSet).DurationVar,
		"FlagFloat64":       (*flag.FlagSet).Float64,
		"FlagFloat64Var":    (*flag.FlagSet).Float64Var,
		"FlagFunc":          (*flag.FlagSet).Func,
		"FlagInt":           (*flag.FlagSet).Int,
		"FlagIntVar":        (*flag.FlagSet).IntVar,
		"FlagInt64":         (*flag.FlagSet).Int64,
		"FlagInt64Var":      (*flag.FlagSet).Int64Var,
		"FlagString":        (*flag.FlagSet).String,
		"FlagStringVar":     (*flag.FlagSet).StringVar,
		"FlagUint":          (*flag.FlagSet).Uint,
		"FlagUintVar":       (*flag.FlagSet).UintVar,
		"FlagUint64":        (*flag.FlagSet).Uint64,
		"JSONDecode":        r.JSONDecode,
		"DecodeGob":         r.DecodeGob,
		"FlagTextVar":       (*flag.FlagSet).TextVar,
		"FlagVar":           (*flag.FlagSet).Var,
		"FlagUint64Var":     (*flag.FlagSet).Uint64Var,
		"MuxHandle":         (*http.ServeMux).Handle,
		"MuxHandleFunc":     (*http.ServeMux).HandleFunc,
		"ListenAndServe":    (*http.Server).ListenAndServe,
		"ListenAndServeTLS": (*http.Server).ListenAndServeTLS,
		"Serve":             (*http.Server).Serve,
		"ServeTLS":          (*http.Server).ServeTLS,
		"MuxHandler":        (*http.ServeMux).Handler,

		"BenchmarkParallel": (*testing.B).RunParallel,
		"BenchmarkRun":      (*testing.B).Run,
		"FuzzRun":           (*testing.F).Fuzz,
		"TestCleanup":       testing.TB.Cleanup,
		"TestParallel":      (*testing.T).Parallel,
		"TestRun":           (*testing.T).Run,
		"TestsRun":          (*testing.M).Run,

		"TestError":    testing.TB.Error,
		"TestErrorf":   testing.TB.Errorf,
		"TestFatal":    testing.TB.Fatal,
		"TestFatalf":   testing.TB.Fatalf,
		"TestHelper":   testing.TB.Helper,
		"TestLog":      testing.TB.Log,
		"TestLogf":     testing.TB.Logf,
		"TestSkip":     testing.TB.Skip,
		"TestSkipf":    testing.TB.Skipf,
		"LogOutput":    (*log.Logger).Output,
		"SetLogOutput": (*log.Logger).SetOutput,

		"TypeImplements":    r.TypeImplements,
		"TypeAssignableTo":  r.TypeAssignableTo,
		"TypeConvertibleTo": r.TypeConvertibleTo,
		"TypeNumMethod":     r.TypeNumMethod,
		"TypeMethod":        r.TypeMethod,
		"TypeMethodByName":  r.TypeMethodByName,
		"TypeMethods":       r.TypeMethods,

		"ValueSet":          r.ValueSet,
		"ValueSetMapIndex":  r.ValueSetMapIndex,
		"ValueSend":         r.ValueSend,
		"ValueTrySend":      r.ValueTrySend,
		"ValueConvert":      r.ValueConvert,
		"ValueCanConvert":   r.ValueCanConvert,
		"ValueNumMethod":    r.ValueNumMethod,
		"ValueMethod":       r.ValueMethod,
		"ValueMethodByName": r.ValueMethodByName,
		"ValueMethods":      r.ValueMethods,
		"ValuePointer":      r.ValuePointer,
		"ValueIndex":        ValueIndex,
		"ValueSlice":        ValueSlice,
		"ValueSlice3":       ValueSlice3,
		"ValueCall":         r.ValueCall,
		"ValueCallSlice":    r.ValueCallSlice,

		"BuiltinPrint":   r.BuiltinPrint,
		"BuiltinPrintln": r.BuiltinPrintln,
	}
	symbols := make(map[string]reflect.Value, len(table))
	for name, f := range table {
		symbols[name] = reflect.ValueOf(f)
	}
	return symbols
}
