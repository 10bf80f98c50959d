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

// Path is the import path under which lowered code imports Symbols.
const Path = "quern/rt"

// Symbols returns the symbols that lowered code uses; see the package comment.
func (r *Registry) Symbols() map[string]reflect.Value {
	table := map[string]any{
		"Box":      (*Type).Box,
		"BoxError": (*Type).BoxError,
		"Value":    r.Value,

		"Register": r.Register,
		"Method":   r.Method,

		"TypeID":          r.TypeID,
		"Is":              r.Is,
		"As":              r.As,
		"Implements":      r.Implements,
		"Convert":         r.Convert,
		"Assign":          r.Assign,
		"AssertionFailed": r.AssertionFailed,
		"SameType":        SameType,

		"Select":   r.Select,
		"Receiver": r.Receiver,
		"Sender":   r.Sender,
		"Named":    Named,
		"Lock":     r.Lock, "LockRW": r.LockRW, "RLock": r.RLock, "WaitGroupWait": r.WaitGroupWait,

		"Deferred":  (*Deferred)(nil),
		"Protect":   r.Protect,
		"Recoverer": r.Recoverer,
		"Forwards":  r.Forwards,

		"StorePosition": StorePosition,

		"FileRead":        (*os.File).Read,
		"FileWrite":       (*os.File).Write,
		"FileWriteString": (*os.File).WriteString,

		"CommandStart":          (*exec.Cmd).Start,
		"CommandRun":            (*exec.Cmd).Run,
		"CommandOutput":         (*exec.Cmd).Output,
		"CommandCombinedOutput": (*exec.Cmd).CombinedOutput,

		"RangeExited":    RangeExited,
		"RangeSwallowed": RangeSwallowed,
		"NegativeShift":  NegativeShift,
		"NilDereference": NilDereference,
		"PanicValue":     PanicValue,
		"NilReceiver":    NilReceiver,

		"InterfaceData":    r.InterfaceData,
		"UnsafeAdd":        UnsafeAdd,
		"UnsafeSlice":      UnsafeSlice,
		"UnsafeSliceData":  UnsafeSliceData,
		"UnsafeString":     UnsafeString,
		"UnsafeStringData": UnsafeStringData,

		"Variable":  r.Variable,
		"Equal":     r.Equal,
		"Recovered": Recovered,

		"ArrayLength":  ArrayLength,
		"MakeCapacity": MakeCapacity,
		"MakeLength":   MakeLength,
		"Concat":       Concat,
		"TextBytes":    TextBytes,
		"TextRunes":    TextRunes,
		"GrowBuilder":  growBuilder,
		"GrowBuffer":   growBuffer,

		"EqualParts": r.EqualParts,
		"Hashable":   r.Hashable,
		"HashableIn": r.HashableIn,
		"Storable":   r.Storable,

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

		"TypeFor":           r.TypeFor,
		"TypeImplements":    r.TypeImplements,
		"TypeAssignableTo":  r.TypeAssignableTo,
		"TypeConvertibleTo": r.TypeConvertibleTo,
		"TypeNumMethod":     r.TypeNumMethod,
		"TypeMethod":        r.TypeMethod,
		"TypeMethodByName":  r.TypeMethodByName,
		"TypeMethods":       r.TypeMethods,

		"ValidValue":        ValidValue,
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

		"CloneMap":       r.CloneMap,
		"Clear":          r.Clear,
		"Min":            Min,
		"Max":            Max,
		"BuiltinPrint":   r.BuiltinPrint,
		"BuiltinPrintln": r.BuiltinPrintln,
		"Words":          r.Words,
	}
	symbols := make(map[string]reflect.Value, len(table))
	for name, f := range table {
		symbols[name] = reflect.ValueOf(f)
	}
	return symbols
}
