// Package rt is the compiled half of the interpreter's run time. It gives the
// named types of cells their identity.
//
// yaegi that runs lowered code has no named types: in it a value of
// `type P struct{ X int }` is a value of the literal struct. Lowered code
// therefore wraps such a value in a [Box] wherever Go converts it to an
// interface. A Box is the pair of a type descriptor and the raw value, kept by
// value in the interface, so that comparison, map keys and errors.Is work by
// Go's own rules. Everything that asks for the dynamic type of a value (type
// assertions, fmt, encoding/json, errors.As, reflect.TypeOf) asks this package,
// which walks descriptor and value together.
//
// # Which types are boxed
//
// Every type that is not an interface and for which [Registry.Mentions] holds:
// it mentions an interpreted named type, a literal interface with methods, or
// a struct literal with embedded or unexported fields. All other values go into
// interfaces as they are. Interfaces declared in cells, literal interfaces and
// any are interface{} in lowered code; compiled named interfaces (error,
// io.Reader) stay themselves.
//
// # What lowered code calls
//
// [Registry.Symbols] is the table of the package "quern/rt". Identifiers are
// those of [Registry.ID]. "Boxed" includes a boxed value inside one of the
// wrappers that [Registry.Convert] makes.
//
// Boxes:
//
//	Box(id int, v interface{}) interface{}      v, of type id, as an interface value
//	BoxError(id int, v interface{}) error       the same for a type that implements error
//	Value(x interface{}) interface{}            the raw value of a boxed x, or x itself
//	Plain(x interface{}) interface{}            x out of its wrapper: for a compiled interface value that becomes any or an interpreted interface
//
// Method tables. A method is registered for T and for *T (promoted methods too)
// as func(x interface{}, args) results, x being the raw receiver, a variadic
// parameter being a slice, results being those of the method:
//
//	Register(id int, name string, f interface{})
//	Method(x interface{}, name string) (f, receiver interface{}, boxed bool)
//
// Method panics as Go does on a nil x. With boxed, f is the registered function,
// to be called with receiver in front; without, f is the bound method of a
// compiled value (a variadic parameter being a slice) and receiver is nil:
//
//	f, r, ok := rtʹ.Method(i, "M"); if ok { return f.(func(interface{}, A) R)(r, a) }; return f.(func(A) R)(a)
//
// Type tests and assertions. -1 is the identifier of no type:
//
//	TypeID(x interface{}) int                               the type of a boxed x, else -1
//	Is(x interface{}, id int) bool                          x is boxed and of type id
//	As(x interface{}, id int) (v interface{}, ok bool)      the raw value of x if it is of the boxed type id
//	Implements(x interface{}, id int) bool                  x.(I) for an interface of any kind; false for nil
//	Convert(x interface{}, id int) (v interface{}, ok bool) x.(I) for a compiled interface: v can be asserted to it
//	Assign(x interface{}, id int) interface{}               conversion to the compiled interface id where the checker knows that it is legal; nil stays nil
//	SameType(x, zero interface{}) bool                      two values of compiled types have the same
//	AssertionFailed(x interface{}, target, source int)      panics with Go's text; source is the static type of x
//
// Variables, comparison, panics, errors:
//
//	Variable(key, name string) interface{}                  the address of a variable of a compiled package
//	Equal(a, b interface{}) bool                            a == b; panics as Go does on an uncomparable type
//	EqualParts(a, b interface{}) bool                       a == b for raw structs or arrays of one type with interfaces in them
//	Hashable(x interface{})                                 Go's panic if x cannot be a key of a map
//	HashableIn(length int, x interface{})                   the same where an entry is read or removed in a map of that length
//	Storable(null bool, x interface{})                      the same where an entry is stored in a map, or in a nil one
//	Recovered(x interface{}) interface{}                    what recover() gave, as Go gives it
//	ArrayLength(n, length int)                              Go's panic when a slice of length n becomes an array that is longer
//	MakeCapacity(length, capacity, size int) int            capacity, or Go's panic of make([]T, length, capacity)
//	Concat(a, b string) string                              a + b, or a panic where that does not fit into memory
//	MakeLength(n, size int) int                             n, or a panic where n elements of size bytes do not fit into memory
//	TextBytes(s string, exact, local bool) []byte        []byte(s), with the capacity of compiled Go; TextRunes
//	GrowBuilder(b *strings.Builder, n int)                  b.Grow(n), or that panic; GrowBuffer
//	ErrorsAs(err error, target interface{}, id int) bool    errors.As; target converted to interface{} as any argument is, id its static type or -1
//
// Methods of compiled types that look into what they are given:
//
//	AtomicStore(v *atomic.Value, x interface{})             v.Store(x); AtomicSwap, AtomicCompareAndSwap
//	ContextWithValue(parent context.Context, key, value interface{}) context.Context
//	EncodeXML(e *xml.Encoder, x interface{}) error          e.Encode(x); EncodeXMLElement, DecodeXML, DecodeXMLElement
//	EncodeGob(e *gob.Encoder, x interface{}) error          e.Encode(x); DecodeGob
//	RegisterRPC(s *rpc.Server, x interface{}) error         s.Register(x); RegisterRPCName
//	ConvertParameter(c driver.ValueConverter, x interface{}) (driver.Value, error)
//	                                                        c.ConvertValue(x)
//	TextVar(f *flag.FlagSet, p encoding.TextUnmarshaler, name string, value encoding.TextMarshaler, usage string)
//	FlagVar(f *flag.FlagSet, value flag.Value, name, usage string)
//	FlagInt(f *flag.FlagSet, name string, value int, usage string) *int
//	                                                        f.Int(name, value, usage), and in the same way FlagBool,
//	                                                        FlagBoolFunc, FlagBoolVar, FlagDuration, FlagDurationVar,
//	                                                        FlagFloat64, FlagFloat64Var, FlagFunc, FlagIntVar, FlagInt64,
//	                                                        FlagInt64Var, FlagString, FlagStringVar, FlagUint, FlagUintVar,
//	                                                        FlagUint64, FlagUint64Var; a session has its own of all of them
//	FlagParse(f *flag.FlagSet, args []string) error         f.Parse(args)
//	MuxHandle(m *http.ServeMux, pattern string, h http.Handler)
//	                                                        m.Handle(pattern, h); MuxHandleFunc, MuxHandler
//	ListenAndServe(s *http.Server) error                    s.ListenAndServe(); ListenAndServeTLS, Serve, ServeTLS
//	Declared(x interface{}) interface{}                     x as a package gets it that looks into arguments of type any
//
// Templates, for t of text/template, and HTMLExecute, HTMLExecuteTemplate and
// HTMLFuncs for those of html/template:
//
//	TextExecute(t, w io.Writer, data interface{}) error     t.Execute(w, data)
//	TextExecuteTemplate(t, w, name, data) error             t.ExecuteTemplate(w, name, data)
//	TextFuncs(t, functions map[string]interface{})          t.Funcs(functions)
//
// Waits, which an interrupt ends. In a select statement directions has s (send), r
// (receive) or d (default) for each case, operands a channel and a pointer to the
// value or the variable:
//
//	Receiver(function interface{})                          *function, a func(chan T) T or func(chan T) (T, bool), receives
//	Sender(function interface{})                            *function, a func(chan T, T), sends
//	Select(directions string, operands ...interface{}) (chosen int, ok bool)
//	Lock(mu *sync.Mutex)                                    mu.Lock(), for an interrupt to end the wait
//	LockRW(mu *sync.RWMutex)                                mu.Lock()
//	RLock(mu *sync.RWMutex)                                 mu.RLock()
//	WaitGroupWait(wg *sync.WaitGroup)                       wg.Wait()
//
// A function with the names of its parameters, which its value does not know:
//
//	Named(function interface{}, names ...string) interface{}
//
// Deferred calls and the position of statements, which need no registry:
//
//	Protect(position *int, body func(d *Deferred))          runs a body that has defer statements
//	Deferred                                                the type of d: d.Push(func()), d.PushValue(func(), int), d.Recover(), d.Panicking()
//	Recoverer() *Deferred                                   what recover() asks in a function that was not deferred as a literal
//	Forwards(activations int)                               said by a function that only calls another one, which recovers
//	FileRead(f *os.File, p []byte) (int, error)             f.Read(p); and FileWrite, FileWriteString: of the standard streams those of the session
//	CommandStart(c *exec.Cmd) error                         c.Start(), with the session's standard input; and CommandRun, CommandOutput, CommandCombinedOutput
//	StorePosition(p *int, number int)                       *p = number under the race detector
//	RangeExited(state int) interface{}                      the panic of a range over a function that goes on after its end
//	RangeSwallowed() interface{}                            the panic of one that recovers a panic of the body
//	NegativeShift() interface{}                             the panic of a shift by a negative count
//	PanicValue(x interface{}) interface{}                   what panic(x) panics with: an error if x is nil
//	NilDereference() interface{}                            the panic of the use of a nil pointer
//	NilReceiver(method string) interface{}                  the panic of a method of a value that is called through a nil pointer
//
// Package unsafe, with raw pointers and slices: UnsafeAdd, UnsafeSlice,
// UnsafeSliceData, UnsafeString and UnsafeStringData.
//
// fmt: Append, Appendf, Appendln, Errorf, Fprint, Fprintf, Fprintln, Print,
// Printf, Println, Sprint, Sprintf and Sprintln, with the signatures of fmt.
// Any other compiled function of the printf kind can be given "%s" and the
// result of Sprintf.
//
// encoding/json:
//
//	JSONMarshal(v interface{}) ([]byte, error)
//	JSONMarshalIndent(v interface{}, prefix, indent string) ([]byte, error)
//	JSONUnmarshal(data []byte, v interface{}) error
//	JSONEncode(e *json.Encoder, v interface{}) error        e.Encode(v)
//	JSONDecode(d *json.Decoder, v interface{}) error        d.Decode(v)
//
// reflect, maps, log and the builtins:
//
//	LogFatal(l *log.Logger, a ...interface{})               l.Fatal(a...); LogFatalf, LogFatalln; a session ends the cell
//	LogOutput(l *log.Logger, depth int, text string) error  l.Output(depth, text); a session has its own, and of the next
//	SetLogOutput(l *log.Logger, w io.Writer)                l.SetOutput(w)
//	TestHelper(t testing.TB)                                t.Helper()
//	TestLog(t testing.TB, a ...interface{})                 t.Log(a...), with the place in its cell in a session
//	TestLogf(t testing.TB, format string, a ...interface{}) t.Logf(format, a...)
//	TestError(t testing.TB, a ...interface{})               t.Error(a...)
//	TestErrorf(t testing.TB, format string, a ...interface{})t.Errorf(format, a...)
//	TestFatal(t testing.TB, a ...interface{})               t.Fatal(a...)
//	TestFatalf(t testing.TB, format string, a ...interface{})t.Fatalf(format, a...)
//	TestSkip(t testing.TB, a ...interface{})                t.Skip(a...)
//	TestSkipf(t testing.TB, format string, a ...interface{})t.Skipf(format, a...)
//	TypeOf(x interface{}) reflect.Type
//	ValidValue(v ReflectValue, method string) ReflectValue  v, or Go's panic of v.method() for the zero Value
//	TypeFor(id int, p interface{}) reflect.Type             reflect.TypeFor[T](); p is (*T)(nil), unboxed
//	TypeImplements(t, u reflect.Type) bool                  t.Implements(u)
//	TypeAssignableTo(t, u reflect.Type) bool                t.AssignableTo(u)
//	TypeConvertibleTo(t, u reflect.Type) bool               t.ConvertibleTo(u)
//	TypeMethod(t reflect.Type, i int) ReflectMethod         t.Method(i)
//	TypeMethodByName(t reflect.Type, name string) (ReflectMethod, bool)
//	                                                        t.MethodByName(name)
//	TypeMethods(t reflect.Type) iter.Seq[ReflectMethod]     t.Methods()
//	DeepEqual(a, b interface{}) bool
//	CloneMap(m interface{}) interface{}                     maps.Clone; boxed if m is
//	Min, Max(a, b float64) float64                          min(a, b) and max(a, b)
//	Clear(x interface{})                                    clear(x) for a map or a slice
//	BuiltinPrint(args ...interface{})                       print; arguments raw, Words(x) for one of interface type
//	BuiltinPrintln(args ...interface{})                     println
//	Words(x interface{}) interface{}
//
// Package reflect itself has in cells [ReflectValue] for its Value, and functions
// that go with it; see [Registry.Overrides]. A reflect.Type stays one.
//
// Functions that reflect on their argument without asking for methods
// (sort.Slice) get Value(x): they see fields and elements, but
// neither the names of types nor their methods. Those of encoding/xml,
// encoding/gob, encoding/binary, encoding/asn1 and database/sql get values of types
// with the declared names and fields, and with those of the declared methods that
// such packages ask for. There is a limited number of types with methods: where none
// is left, a value is refused by an [EncodingError].
//
// # What compiled packages may ask of a box
//
// Every box is a fmt.Formatter and a json.Marshaler. It is an error, a
// fmt.Stringer, an encoding.TextMarshaler, a slog.LogValuer or a
// display.Displayer exactly when its type is. A compiled function that reflects on a value of a cell finds the raw one
// through the method
//
//	Raw() any
//
// which every box and every wrapper of our own interfaces has: assert to
// interface{ Raw() any }. The method TypeName() string of a box is the name of
// its type, as %T prints it.
//
// # Limitations
//
// Two values that one box became as the same compiled interface are equal in
// lowered code. To compiled code they are only where the box itself or a native
// wrapper stands for the interface, not where yaegi's wrapper does.
//
// A compiled function that asks a value of type any for an interface other than
// those above (driver.Valuer, for instance) does not find it on a box.
//
// Where package slog writes an unnamed slice, map or struct as JSON and a value of a
// cell in it cannot be encoded, the error names Box in front of the user's type.
//
// A reflect.Type that [Registry.TypeOf] returns answers for the declared type;
// compiled code that makes values from it makes raw ones. A type that package
// reflect makes of a type of a cell and of a named compiled one is refused by a
// panic, and so are the parameters of a method of an interface of a cell.
//
// # Concurrency
//
// All of it may be called from any goroutine. Go types are immutable once the
// checker is done with them, but go/types computes method sets lazily; ID and
// everything that is handed a types.Type must be called by the goroutine that
// checks and lowers, or while no cell is being checked.
package rt
