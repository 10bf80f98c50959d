package lower

import "go/types"

// replaced maps methods of compiled types to their replacements in the run time. Those of package reflect must
// know the methods of interfaces of cells, those of loggers and tests the stack.
var replaced = map[string]string{
	"(reflect.Type).AssignableTo":     "TypeAssignableTo",
	"(reflect.Type).ConvertibleTo":    "TypeConvertibleTo",
	"(reflect.Type).Implements":       "TypeImplements",
	"(reflect.Type).Method":           "TypeMethod",
	"(reflect.Type).MethodByName":     "TypeMethodByName",
	"(reflect.Type).Methods":          "TypeMethods",
	"(reflect.Type).NumMethod":        "TypeNumMethod",
	"(reflect.Value).Set":             "ValueSet",
	"(reflect.Value).SetMapIndex":     "ValueSetMapIndex",
	"(reflect.Value).Send":            "ValueSend",
	"(reflect.Value).TrySend":         "ValueTrySend",
	"(reflect.Value).Convert":         "ValueConvert",
	"(reflect.Value).CanConvert":      "ValueCanConvert",
	"(reflect.Value).NumMethod":       "ValueNumMethod",
	"(reflect.Value).Method":          "ValueMethod",
	"(reflect.Value).MethodByName":    "ValueMethodByName",
	"(reflect.Value).Methods":         "ValueMethods",
	"(reflect.Value).Pointer":         "ValuePointer",
	"(reflect.Value).Index":           "ValueIndex",
	"(reflect.Value).Slice":           "ValueSlice",
	"(reflect.Value).Slice3":          "ValueSlice3",
	"(reflect.Value).Call":            "ValueCall",
	"(reflect.Value).CallSlice":       "ValueCallSlice",
	"(*log.Logger).Output":            "LogOutput",
	"(*log.Logger).SetOutput":         "SetLogOutput",
	"(*log.Logger).Fatal":             "LogFatal",
	"(*log.Logger).Fatalf":            "LogFatalf",
	"(*log.Logger).Fatalln":           "LogFatalln",
	"(*flag.FlagSet).Parse":           "FlagParse",
	"(*flag.FlagSet).Bool":            "FlagBool",
	"(*flag.FlagSet).BoolFunc":        "FlagBoolFunc",
	"(*flag.FlagSet).BoolVar":         "FlagBoolVar",
	"(*flag.FlagSet).Duration":        "FlagDuration",
	"(*flag.FlagSet).DurationVar":     "FlagDurationVar",
	"(*flag.FlagSet).Float64":         "FlagFloat64",
	"(*flag.FlagSet).Float64Var":      "FlagFloat64Var",
	"(*flag.FlagSet).Func":            "FlagFunc",
	"(*flag.FlagSet).Int":             "FlagInt",
	"(*flag.FlagSet).IntVar":          "FlagIntVar",
	"(*flag.FlagSet).Int64":           "FlagInt64",
	"(*flag.FlagSet).Int64Var":        "FlagInt64Var",
	"(*flag.FlagSet).String":          "FlagString",
	"(*flag.FlagSet).StringVar":       "FlagStringVar",
	"(*encoding/json.Decoder).Decode": "JSONDecode",
	"(*encoding/gob.Decoder).Decode":  "DecodeGob",
	"(*flag.FlagSet).TextVar":         "FlagTextVar",
	"(*flag.FlagSet).Var":             "FlagVar",
	"(*flag.FlagSet).Uint":            "FlagUint",
	"(*flag.FlagSet).UintVar":         "FlagUintVar",
	"(*flag.FlagSet).Uint64":          "FlagUint64",
	"(*flag.FlagSet).Uint64Var":       "FlagUint64Var",

	"(*net/http.Server).ListenAndServe":    "ListenAndServe",
	"(*net/http.Server).ListenAndServeTLS": "ListenAndServeTLS",
	"(*net/http.Server).Serve":             "Serve",
	"(*net/http.Server).ServeTLS":          "ServeTLS",

	"(*net/http.ServeMux).Handle":     "MuxHandle",
	"(*net/http.ServeMux).HandleFunc": "MuxHandleFunc",
	"(*net/http.ServeMux).Handler":    "MuxHandler",

	"(*testing.B).Run":          "BenchmarkRun",
	"(*testing.B).RunParallel":  "BenchmarkParallel",
	"(*testing.F).Fuzz":         "FuzzRun",
	"(*testing.M).Run":          "TestsRun",
	"(*testing.T).Parallel":     "TestParallel",
	"(*testing.T).Run":          "TestRun",
	"(*testing.common).Cleanup": "TestCleanup",
	"(testing.TB).Cleanup":      "TestCleanup",

	"(*testing.common).Error":  "TestError",
	"(*testing.common).Errorf": "TestErrorf",
	"(*testing.common).Fatal":  "TestFatal",
	"(*testing.common).Fatalf": "TestFatalf",
	"(*testing.common).Helper": "TestHelper",
	"(*testing.common).Log":    "TestLog",
	"(*testing.common).Logf":   "TestLogf",
	"(*testing.common).Skip":   "TestSkip",
	"(*testing.common).Skipf":  "TestSkipf",
	"(testing.TB).Error":       "TestError",
	"(testing.TB).Errorf":      "TestErrorf",
	"(testing.TB).Fatal":       "TestFatal",
	"(testing.TB).Fatalf":      "TestFatalf",
	"(testing.TB).Helper":      "TestHelper",
	"(testing.TB).Log":         "TestLog",
	"(testing.TB).Logf":        "TestLogf",
	"(testing.TB).Skip":        "TestSkip",
	"(testing.TB).Skipf":       "TestSkipf",

	"(*strings.Builder).Grow": "GrowBuilder",
	"(*bytes.Buffer).Grow":    "GrowBuffer",
}

// waits are methods that may wait forever. The compiled run time replaces them, to end the wait on
// an interrupt:
//
//	mu.Lock()    ->  rtʹ.Lock(&mu)
//	wg.Wait()    ->  rtʹ.WaitGroupWait(&wg)
var waits = map[string]string{
	"(*sync.Mutex).Lock":     "Lock",
	"(*sync.RWMutex).Lock":   "LockRW",
	"(*sync.RWMutex).RLock":  "RLock",
	"(*sync.WaitGroup).Wait": "WaitGroupWait",
}

// starts are methods that start a child process, for which the session provides the standard input:
//
//	out, err := cmd.Output()  ->  out, err := rtʹ.CommandOutput(cmd)
var starts = map[string]string{
	"(*os/exec.Cmd).Start":          "CommandStart",
	"(*os/exec.Cmd).Run":            "CommandRun",
	"(*os/exec.Cmd).Output":         "CommandOutput",
	"(*os/exec.Cmd).CombinedOutput": "CommandCombinedOutput",
}

// files are methods of files that the session replaces for the standard streams:
//
//	os.Stdout.Write(p)  ->  rtʹ.FileWrite(os.Stdout, p)
var files = map[string]string{
	"(*os.File).Read":        "FileRead",
	"(*os.File).Write":       "FileWrite",
	"(*os.File).WriteString": "FileWriteString",
}

// replacement returns the symbol of the compiled run time that code of cells calls instead of a compiled function or method, and
// whether there is one.
func replacement(o *types.Func) (symbol string, ok bool) {
	full := o.FullName()
	for _, table := range []map[string]string{replaced, waits, starts, files} {
		if symbol, ok = table[full]; ok {
			return symbol, true
		}
	}
	return "", false
}
