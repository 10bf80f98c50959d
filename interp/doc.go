// Package interp runs cells: pieces of Go that share variables, functions, types
// and imports. Cells are written in the language version of the Go release that compiled
// the binary, and use its standard library.
//
//	s, err := interp.New()
//	result, err := s.Execute(ctx, 1, "x := 20\nx + 1") // result.Data["text/plain"] is "21"
//
// go/types checks a cell (package check). Package lower makes a unit of it: functions, and its statements as one function,
// for the VM, our own register machine (package vm) with its run time (package rt), and declarations of variables for the
// interpreter, traefik/yaegi, which owns the variables of the session. Only package yaegi depends on
// yaegi's internals. Compiled packages come from package symbols; no Go toolchain is needed.
//
// A [Session] only connects its parts. In this package, in the order in which they use each
// other:
//
//	execute.go   Execute and Evaluate: the path of a cell through the parts
//	callback.go  functions of cells that widgets call
//	session.go   New connects the parts; methods that only forward a call
//	tools.go     completion, inspection, is-complete
//	options.go   options of New
//	compiler.go  checks and lowers a cell and passes it to the interpreter; what uses packages that have changed; interrupts meanwhile
//	stale.go     %run stale: cells whose results no longer follow from the code above them, see package stale
//	commands.go  magic commands
//	packages.go  packages of modules that a cell imports
//	executor.go  runs compiled cells one at a time
//	errors.go    Error
//	result.go    values as MIME bundles
//	unread.go    errors that a cell sets and does not read
//	linker.go    passes declarations of variables to the interpreter and connects the VM to them; drops replaced definitions
//
// It uses these packages, of which each may import the ones after it: library (library
// functions of cells), registration (names registered with compiled packages), stream
// (standard streams), control (goroutines and interrupts), diagnostics (errors and
// tracebacks), goroutine (which cell a goroutine belongs to), yaegi, stack.
//
// # Cells
//
// A cell is any mix of imports, declarations and statements. Known packages are imported
// automatically. Unused variables, imports and labels are allowed. If functions have them, or
// blocks have unused variables, a note says that the Go compiler would reject that. ctx is
// predeclared in every cell: a context.Context that an interrupt of the cell cancels. If a
// cell sets ctx, it keeps that value, and an interrupt of a later cell does not cancel it; a
// value that derives from an earlier ctx and has ended is replaced.
//
//   - If the last statement is an expression, its value is the result; a semicolon after it
//     hides the result. [Result] describes how values are shown.
//   - A cell fails if its last statement is a call whose last result is a non-nil error. It
//     also fails if a statement or a declaration sets, from a call, a variable of type error
//     that outlives the cell, and nothing in the cell reads it before another statement
//     overwrites it or the cell ends. `_ = err` reads it. A program need not read what its
//     declarations set. An unused error variable of a block, which the Go compiler rejects,
//     fails the cell where it is set; in a function there is only the note.
//   - Functions see the variables that statements of their cell define. A statement that
//     would use such a variable, through a function, before its definition is rejected.
//   - defer at the top level runs at the end of the cell. return there ends the cell.
//   - func init runs once, before the statements.
//   - A cell that declares func main and has no statements is a program: it runs main and
//     ends when main ends, see below. So is a cell whose only statement is main().
//   - The letter ʹ is reserved in names.
//   - A line that begins with % or ! is a command of package magic; %help lists the commands.
//   - Packages of modules that %get has downloaded are interpreted from source, see package
//     source. A cell that imports such a package first sets its variables and runs its init
//     functions; a function or type is lowered when a cell first uses it. Code that cannot be
//     lowered fails the cell and has no other effect.
//
// # Stale cells
//
// The session records which names of the session each cell uses, defines and changes, and changes nothing about how cells run. %stale
// lists the cells whose results no longer follow from the cells above them: after a definition has been edited, a variable set again
// or a cell deleted. %run stale runs these again, in order. Then the variables and results are those of a run from top to bottom,
// as far as the code shows what it changes. Package stale has the rules and their limits. The front end must send the ids of
// cells ([ID]), as JupyterLab, Notebook 7 and VS Code do; without them, each run counts as a cell of its own.
//
// # Programs
//
// A program ends when main returns, when one of its goroutines calls os.Exit or log.Fatal, or
// when one panics. Its other goroutines end with it at their next check, without their
// deferred calls. The session continues; an exit status other than 0 fails the cell. In other
// cells os.Exit ends the process.
//
// A cell that begins with "package main" is a Go file. If it has func main, it does in a
// session what it does with go run, whatever earlier cells have defined: a name that it does
// not declare is the predeclared one, if there is one, and not that of the session; its types
// have no methods from other cells, and flag.CommandLine is empty at the start. Its declarations
// remain for later cells and replace earlier ones with the same names. The same holds for a
// second program, which does not change other definitions. A note says, once for the same text,
// what the Go compiler would reject.
//
// # Redefinitions
//
// A name refers to its latest definition. Functions, types and constants of earlier cells that
// use the name are compiled again and use the new definition; a declaration that no longer
// type-checks is reported, and panics when it is called. A variable that is defined again with
// the same type remains the same variable. A later cell may add methods to a type of an earlier
// cell or replace them, also for generic types. A type that is declared again with the same text
// is the same type, so existing values still have this type.
//
// The same holds for a package of the notebook's module, or of a module of %get, whose files have changed, and for the
// packages that import it: before the next cell they are loaded again, and the functions, types and constants of cells that
// use them are compiled again. Their variables are initialized and their init functions run again, as if the program had
// been started again; a note lists the variables. All their types are new ones, also those with the same text. Values of the
// types before keep them, with the methods that they had: run the cell that made the values again. If the files cannot be
// compiled, for instance because they are half saved, a note says why, and everything uses the version before; a cell that
// imports the package itself gets the error. A file that is saved without a change does nothing.
//
// The same holds for names that cells register in compiled packages, which panic if a program
// registers a name twice: flags, patterns of http.ServeMux, variables of expvar, drivers of
// database/sql, methods of archive/zip, formats of image, profiles of runtime/pprof and types of
// encoding/gob. A later cell replaces what an earlier one has registered, a pattern also those
// that conflict with it; registering a name twice within one run of a cell is a panic. Package
// encoding/gob cannot unregister a type: it rejects a name that was registered for an earlier
// definition of a type. This does not apply to modules of %get that have their own registry.
//
// An existing closure or goroutine keeps the variables that it captured. If it calls a function
// or method that was declared again with the same parameters and results, it calls the new one;
// if these differ, and for generic functions, it calls the old one, which a function with the same
// parameters and results replaces later. The value of a function or of
// a method expression such as T.M does not change, but a method value such as x.M is a closure that
// calls the method. If an old closure uses a function as a value, it is not specified whether that
// is the old or the new function.
//
// Values of a type have the methods that it has now. A value in an interface whose method only
// pointers have now still has it there; the call of a method that has another signature than in the
// interface is a panic.
//
// A panic in a goroutine ends a compiled program. In a session, it fails the cell that runs, at its end; if none runs, it fails
// the next one, which is not run. So do panics in timers, in functions that widgets call, in finalizers and in cleanups.
//
// A deadlock of all goroutines of the session, which ends a compiled program, fails a cell after two to three seconds with
// "fatal error: all goroutines are asleep - deadlock!"; with [Attended] a note says so, and the cell waits for an interrupt. It is
// not found if something else might wake a goroutine: a timer, also one that was stopped; a receive of struct{} from a
// receive-only channel, which may belong to a context; a connection, file or signal; a goroutine in other compiled code, such as
// an idle HTTP connection or a coroutine of iter.Pull; a finalizer or cleanup; in front of a person, widgets that call functions.
//
// A cell that does not compile defines nothing and runs nothing, and its %get lines have no effect. If a cell panics, the effects
// of the statements before remain. Variables that only later statements define mean what they meant before the cell, or nothing;
// a function that uses one of the latter panics. The same is true after a return at the top level, or an interrupt. Types,
// constants and functions remain.
//
// # Interrupts
//
// [Session.Interrupt] cancels ctx and raises a flag that code of cells checks at every loop head
// and function entry. It also ends time.Sleep and waits for channels and for a sync.Mutex,
// RWMutex or WaitGroup. A child process that package os/exec started is interrupted with all
// processes that it has started, and killed if it does not end. Deferred calls run, and a
// recover of the cell does not see the interrupt; a long deferred call may continue for a second
// while the next cell runs. Goroutines of other cells and closures are not affected.
//
// A cell that is still being compiled also ends at once, and defines nothing. The parser
// cannot be stopped in the middle of a piece of source: it finishes it in the background,
// and the next cell waits for that.
//
// A call of compiled code that does not return, such as sync.Cond.Wait or http.Get, cannot be
// ended. After a while the cell ends with an [Error] that is Stuck; the call continues in the
// background, and the rest of the cell does not run. The session measures that while in CPU time
// of the process, or in real time if the goroutine is blocked. The packages of Quern check for
// interrupts; the session waits for them until Interrupt is called again.
//
// # Concurrency
//
// Execute and Evaluate run one at a time. Complete, Inspect, IsComplete and Interrupt may be
// called from any goroutine and do not wait for a running cell. Several sessions in one process
// share only the global state of compiled packages.
//
// # Cost
//
// Measured by go test -bench . and make memory with Go 1.26.8 on two cores with other load:
//
//	New                                          4 to 12 ms
//	a cell "1 + 1"                               0.16 ms
//	the same 300 cells later                     0.19 ms
//	a cell that prints a variable                0.19 ms
//	a cell that redefines a recursive function   0.3 ms
//	resident memory after 10 000 small cells    197 MB
//	resident memory of a worker that starts      50 MB
//	after 1 000 runs of a cell that holds 10 MB  105 MB
//	completion after a dot, 300 cells deep       0.17 ms
//	completion of a name, 300 cells deep         1.2 ms
//	after a dot, with a syntax error above       0.31 ms
//	inspection, 300 cells deep                   0.10 ms
//	inspection with the value of a variable      0.24 ms
//
// Measured by go run ./interp/internal/bench in milliseconds, best of three, with CPython 3.11
// in the same run on an otherwise idle machine; "before" is the time of yaegi, before the VM:
//
//	                     a cell   before   Python   ratio
//	nested loops, 1e7        47      526      348    0.13
//	compiled calls, 1e6       9      450       60    0.15
//	fib(30)                  30     1696       98    0.31
//	closure calls, 1e6       19      912       53    0.35
//	method calls, 2e6        33      931       87    0.37
//	matmul, 128              38      316       99    0.39
//	sieve, 1e6               32      272       79    0.40
//	strings.Builder, 1e6     19      472       27    0.70
//	map insert, 1e6         113      275      106    1.07
//
// and in a later run, in which every tenth call of the second program panics:
//
//	defer, 1e6               96     5066      117    0.82
//	defer, recover, 1e6     150     8463      100    1.50
//
// Compiled by Go, the map insertion takes 118 ms.
//
// # Limits
//
// Blocks may be nested 250 deep, brackets 1000 deep, and an expression may have 10 000
// operators, selectors and calls; more is rejected, and so is a function with more than
// 128 parameters and results. The time to compile a cell grows linearly with its
// length, but with the square of the length of a chain of calls with arguments, because the type
// checker prints each call in case there is an error: 4000 of them take 0.6 s.
//
// The session ends infinite recursion before it fills the stack of its goroutine, at 60 000
// nested calls or more, with the [Error] "runtime error: stack overflow", which recover does not
// see. A fatal error of the Go runtime, such as a concurrent map write, and os.Exit end the
// process: the kernel runs a session in a separate process.
// The time of a panic grows with the square of the depth of the stack: 10 ms at 100 calls, half a
// second at 3000.
package interp
