// Package rt is the compiled part of the interpreter's run time. It gives the
// named types of cells their identity.
//
// Lowered code, which yaegi runs, has no named types: a value of
// `type P struct{ X int }` is a value of the struct literal type, a raw value. Where Go
// converts it to an interface, it gets the type that the cell has declared, which package
// named makes: with its name, its fields and tags, and its methods. Compiled packages see
// it as they see any value. Raw and declared type have the same memory, so the
// conversion replaces the type word of the interface value. A [Box] is a raw value with
// the descriptor of its type, outside an interface.
//
// # Which types are converted
//
// Every type that is not an interface and for which [Registry.Mentions] returns
// true: it mentions an interpreted named type, a literal interface with methods, or
// a struct literal type with embedded or unexported fields. All other values become
// interface values as they are. Interfaces declared in cells, literal interfaces and
// any are interface{} in lowered code; compiled named interfaces (error,
// io.Reader) stay as they are.
//
// # What lowered code calls
//
// [Registry.Symbols] returns the symbol table of the package "quern/rt". Identifiers
// of types are those of [Registry.ID]. A boxed value is an interface value with a type of a cell.
//
// Interface values:
//
//	Box(id int, v interface{}) interface{}      v, of type id, as an interface value
//	BoxError(id int, v interface{}) error       the same for a type that implements error
//	Value(x interface{}) interface{}            the raw value of a boxed x, or x itself
//
// Method tables. A method is registered for T and for *T (promoted methods too)
// as func(x interface{}, args) results. x is the raw receiver, a variadic
// parameter is a slice, and the results are those of the method:
//
//	Register(id int, name string, f interface{})
//	Method(x interface{}, name string) (f, receiver interface{}, boxed bool)
//
// Method panics as Go does on a nil x. If boxed is true, f is the registered function,
// to be called with receiver as its first argument. Otherwise f is the method value of a
// compiled value (a variadic parameter is a slice), and receiver is nil:
//
//	f, r, ok := rtʹ.Method(i, "M"); if ok { return f.(func(interface{}, A) R)(r, a) }; return f.(func(A) R)(a)
//
// Type tests and assertions. The identifier -1 means no type:
//
//	TypeID(x interface{}) int                               the type of a boxed x, else -1
//	Is(x interface{}, id int) bool                          whether x is boxed and of type id
//	As(x interface{}, id int) (v interface{}, ok bool)      the raw value of x if it is of the boxed type id
//	Implements(x interface{}, id int) bool                  x.(I) for any interface; false for nil
//	Convert(x interface{}, id int) (v interface{}, ok bool) x.(I) for a compiled interface: v can be asserted to it
//	Assign(x interface{}, id int) interface{}               conversion to the compiled interface id that the type checker has accepted; nil stays nil
//	SameType(x, zero interface{}) bool                      whether two values of compiled types have the same type
//	AssertionFailed(x interface{}, target, source int)      panics with Go's text; source is the static type of x
//
// Variables, comparison, panics, errors:
//
//	Variable(key, name string) interface{}                  the address of a variable of a compiled package
//	Equal(a, b interface{}) bool                            a == b; panics as Go does on an uncomparable type
//	EqualParts(a, b interface{}) bool                       a == b for raw structs or arrays of one type that contain interfaces
//	Hashable(x interface{})                                 panics as Go does if x cannot be a map key
//	HashableIn(length int, x interface{})                   the same when an entry of a map of that length is read or removed
//	Storable(nilMap bool, x interface{})                    the same when an entry is stored in a map, which may be nil
//	Recovered(x interface{}) interface{}                    the result x of recover(), corrected to what compiled Go returns
//	ArrayLength(n, length int)                              panics as Go does if a slice of length n is converted to a longer array
//	MakeCapacity(length, capacity, size int) int            capacity; panics as Go's make([]T, length, capacity) does
//	Concat(a, b string) string                              a + b; panics if it does not fit into memory
//	MakeLength(n, size int) int                             n; panics if n elements of size bytes do not fit into memory
//	TextBytes(s string, exact, local bool) []byte           []byte(s), with the capacity that compiled Go gives it; TextRunes
//	GrowBuilder(b *strings.Builder, n int)                  b.Grow(n); panics if it does not fit into memory; GrowBuffer
//
// Methods of compiled packages that a session replaces:
//
//	DecodeGob(d *gob.Decoder, x interface{}) error          d.Decode(x), which checks interfaces of cells; JSONDecode
//	FlagInt(f *flag.FlagSet, name string, value int, usage string) *int
//	                                                        f.Int(name, value, usage), and in the same way FlagBool,
//	                                                        FlagBoolFunc, FlagBoolVar, FlagDuration, FlagDurationVar,
//	                                                        FlagFloat64, FlagFloat64Var, FlagFunc, FlagIntVar, FlagInt64,
//	                                                        FlagInt64Var, FlagString, FlagStringVar, FlagUint, FlagUintVar,
//	                                                        FlagUint64, FlagUint64Var, FlagTextVar, FlagVar
//	FlagParse(f *flag.FlagSet, args []string) error         f.Parse(args)
//	MuxHandle(m *http.ServeMux, pattern string, h http.Handler)
//	                                                        m.Handle(pattern, h); MuxHandleFunc, MuxHandler
//	ListenAndServe(s *http.Server) error                    s.ListenAndServe(); ListenAndServeTLS, Serve, ServeTLS
//
// Waits that an interrupt ends. For a select statement, directions has s (send), r
// (receive) or d (default) for each case, and operands has a channel and a pointer to the
// value or the variable for each case but the default:
//
//	Receiver(function interface{})                          sets *function, a func(chan T) T or func(chan T) (T, bool), to one that receives
//	Sender(function interface{})                            sets *function, a func(chan T, T), to one that sends
//	Select(directions string, operands ...interface{}) (chosen int, ok bool)
//	Lock(mu *sync.Mutex)                                    mu.Lock()
//	LockRW(mu *sync.RWMutex)                                mu.Lock()
//	RLock(mu *sync.RWMutex)                                 mu.RLock()
//	WaitGroupWait(wg *sync.WaitGroup)                       wg.Wait()
//
// A function together with the names of its parameters, which a function value does not
// have:
//
//	Named(function interface{}, names ...string) interface{}
//
// Deferred calls and the position of statements, which need no registry:
//
//	Protect(position *int, body func(d *Deferred))          runs a body that has defer statements
//	Deferred                                                the type of d: d.Push(func()), d.PushValue(func(), int), d.Recover(), d.Panicking()
//	Recoverer() *Deferred                                   the d whose Recover implements recover() in a function that was not deferred as a literal
//	Forwards(activations int)                               called by a function that only calls another one, which may recover
//	FileRead(f *os.File, p []byte) (int, error)             f.Read(p), also FileWrite and FileWriteString; a standard stream is that of the session
//	CommandStart(c *exec.Cmd) error                         c.Start() with the session's standard input, also CommandRun, CommandOutput, CommandCombinedOutput
//	StorePosition(p *int, number int)                       *p = number, atomically under the race detector
//	RangeExited(state int) interface{}                      the panic if an iterator function continues after the end of its loop
//	RangeSwallowed() interface{}                            the panic if an iterator function recovers a panic of the loop body
//	NegativeShift() interface{}                             the panic of a shift by a negative count
//	PanicValue(x interface{}) interface{}                   the value that panic(x) panics with: an error if x is nil
//	NilDereference() interface{}                            the panic of a nil pointer dereference
//	NilReceiver(method string) interface{}                  the panic of a value method called through a nil pointer
//
// Package unsafe, with raw pointers and slices: UnsafeAdd, UnsafeSlice,
// UnsafeSliceData, UnsafeString, UnsafeStringData, and InterfaceData(x interface{}) unsafe.Pointer.
//
// reflect, maps, log and the builtins:
//
//	LogFatal(l *log.Logger, a ...interface{})               l.Fatal(a...), also LogFatalf and LogFatalln; a session ends the cell
//	LogOutput(l *log.Logger, depth int, text string) error  l.Output(depth, text); a session replaces this and the next one
//	SetLogOutput(l *log.Logger, w io.Writer)                l.SetOutput(w)
//	BenchmarkRun(b *testing.B, name string, f func(b *testing.B)) bool   b.Run(name, f); in a session a panic in f fails b, as for the next ones
//	BenchmarkParallel(b *testing.B, f func(p *testing.PB))  b.RunParallel(f)
//	FuzzRun(f *testing.F, target interface{})               f.Fuzz(target)
//	TestRun(t *testing.T, name string, f func(t *testing.T)) bool        t.Run(name, f)
//	TestsRun(m *testing.M) int                              m.Run()
//	TestCleanup(t testing.TB, f func())                     t.Cleanup(f)
//	TestParallel(t *testing.T)                              t.Parallel()
//	TestHelper(t testing.TB)                                t.Helper()
//	TestLog(t testing.TB, a ...interface{})                 t.Log(a...); in a session with the position in its cell
//	TestLogf(t testing.TB, format string, a ...interface{}) t.Logf(format, a...)
//	TestError(t testing.TB, a ...interface{})               t.Error(a...)
//	TestErrorf(t testing.TB, format string, a ...interface{})t.Errorf(format, a...)
//	TestFatal(t testing.TB, a ...interface{})               t.Fatal(a...)
//	TestFatalf(t testing.TB, format string, a ...interface{})t.Fatalf(format, a...)
//	TestSkip(t testing.TB, a ...interface{})                t.Skip(a...)
//	TestSkipf(t testing.TB, format string, a ...interface{})t.Skipf(format, a...)
//	TypeFor(id int, p interface{}) reflect.Type             reflect.TypeFor[T](); p is (*T)(nil), unboxed
//	TypeImplements(t, u reflect.Type) bool                  t.Implements(u), and in the same way the other methods that look at
//	                                                        interfaces: TypeAssignableTo, TypeConvertibleTo, TypeNumMethod,
//	                                                        TypeMethod, TypeMethodByName, TypeMethods
//	ValidValue(v reflect.Value, method string) reflect.Value
//	                                                        v; panics as v.method() does if v is the zero Value
//	ValueSet(v, x reflect.Value)                            v.Set(x), and in the same way ValueSetMapIndex, ValueSend,
//	                                                        ValueTrySend, ValueConvert, ValueCanConvert, ValueNumMethod,
//	                                                        ValueMethod, ValueMethodByName, ValueMethods, ValueCall,
//	                                                        ValueCallSlice, ValuePointer, ValueIndex, ValueSlice, ValueSlice3
//	CloneMap(m interface{}) interface{}                     maps.Clone; boxed if m is
//	Min, Max(a, b float64) float64                          min(a, b) and max(a, b)
//	Clear(x interface{})                                    clear(x) for a map or a slice
//	BuiltinPrint(args ...interface{})                       print; arguments are raw, those of interface type are passed as Words(x)
//	BuiltinPrintln(args ...interface{})                     println
//	Words(x interface{}) interface{}
//
// # Methods that are declared later
//
// The runtime remembers which methods a type has. So a type that gets a method after it has been made, or a
// type that mentions it, is made again, and values become values of the new type from then on. [Registry.Retype]
// replaces the type of the interface values in the variables of a session. Both types have one descriptor, so assertions and
// == in cells treat them as one.
//
// # Limitations
//
// Interface values that only compiled packages, channels, closures or running goroutines hold keep the methods that their type
// had when they were made. Compiled packages see interfaces of cells as interfaces without methods, as components of
// other types too: package reflect can store any value in one, and omitzero of encoding/json does not find its method IsZero. A method with a type in its signature that is not in
// yaegi's tables is missing.
//
// # Concurrency
//
// All functions may be called from any goroutine. Go types are immutable once they have
// been checked, but go/types computes method sets lazily. So ID and all functions that
// take a types.Type must be called by the goroutine that checks and lowers, or while no
// cell is being checked.
package rt
