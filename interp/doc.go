// Package interp runs cells: pieces of Go that share variables, functions, types
// and imports. They are written in the language of the Go release that compiled
// the binary, and use its standard library.
//
//	s, err := interp.New()
//	result, err := s.Execute(ctx, 1, "x := 20\nx + 1") // result.Data["text/plain"] is "21"
//
// go/types checks a cell (package check), which is then lowered to simpler Go
// (package lower). Two back ends run the result: the VM, our own register machine
// for functions and loops of plain Go (package machine), and the interpreter,
// traefik/yaegi, for everything else, together with the compiled run time (package
// rt). Only package yaegi depends on yaegi's internals.
//
// Compiled packages come from package symbols; no Go toolchain is needed.
//
// # What a cell may be
//
// Any mix of imports, declarations and statements. Packages that are known are
// imported by themselves. Unused variables, imports and labels are fine. Where
// functions have them, or blocks have unused variables, a note says that the Go
// compiler would reject that. ctx is predeclared in every cell: a context.Context that an interrupt of the cell
// cancels. One that a cell sets stays set, an interrupt of a later cell does not
// cancel it; but one that derives from ctx and has ended is replaced.
//
//   - The value of the last statement, when it is an expression, is the result; a
//     semicolon after it hides it. See [Result] for how it looks.
//   - A cell fails when its last statement is a call whose last result is a
//     non-nil error, and when a statement sets a variable of type error that
//     outlives the cell from a call and nothing in the cell reads it, before
//     another statement overwrites it or the cell ends. `_ = err` reads it. An error
//     variable of a block that nothing reads, which the Go compiler rejects, fails the
//     cell where it is set; in a function there is only the note.
//   - Functions see the variables that statements of their cell define. A
//     statement that would reach one before its definition is refused.
//   - defer at the top level runs at the end of the cell. return there is refused.
//   - func init runs once, before the statements.
//   - A cell that declares func main and has no statements is a program: it runs main
//     and ends with it, see below. So is one whose only statement is main().
//   - The letter ʹ is reserved in names.
//   - A line that begins with % or ! is a command of package magic; %help lists
//     them.
//   - Packages of modules that %get was given are interpreted from source, see
//     package source. A cell that imports one first sets its variables and runs its
//     init functions; a function or type is lowered when a cell first uses it. What
//     is refused fails that cell and leaves no trace.
//
// # Programs
//
// A program ends when main returns, by os.Exit or log.Fatal in any of its goroutines, or
// by a panic in one. Its other goroutines end with it, without their deferred calls,
// at their next check. The session goes on; an exit status that is not 0 fails the cell.
// In other cells os.Exit ends the process.
//
// A cell that begins with "package main" is a file of Go. With a func main it does in
// a session what it does with go run, whatever earlier cells have defined: names that it
// does not declare are the predeclared ones before they are those of the session, its
// types have no methods from elsewhere, and flag.CommandLine begins empty. What it
// declares stays for later cells, and replaces what had the names before; so does a
// second program, and what it does not declare stays what it was. What the Go compiler
// would reject is noted, once for the same text.
//
// # What a later cell changes
//
// A name means what the last cell says that defined it. Functions, types and
// constants of earlier cells that use it are compiled again and use the new
// meaning; one that no longer type-checks is reported, and panics when called. A
// variable that is defined again with the same type stays the same variable. Methods
// may be added to a type of an earlier cell or replaced there, generic types too.
// A type that is declared again word for word is the same type, so values made
// before still fit.
//
// So it is with names that cells register in compiled packages, which panic in a program
// that takes one twice: flags, patterns of http.ServeMux, variables of expvar, drivers of
// database/sql, methods of archive/zip and formats of image. What a later cell registers
// replaces what an earlier one has; within one run of a cell, twice is a panic. Modules
// of %get with a registry of their own decide for themselves.
//
// A closure that is already made, a goroutine too, keeps the variables that it
// captured. A function or method that it calls is the one that a later cell has
// declared, if that has the same parameters and results; else, and where the
// function is generic, it stays the one of before. A function value stays what it
// was when it was made; which function an old closure makes into a value, the old
// or the new one, is not said.
//
// A cell that does not compile defines nothing and runs nothing. One that panics
// keeps what its statements did before.
//
// # Interrupts
//
// [Session.Interrupt] cancels ctx and raises a flag that lowered code checks at
// every loop head and function entry; time.Sleep ends too, and so do waits for
// channels and for a sync.Mutex, RWMutex or WaitGroup. A child process that package
// os/exec started is interrupted with all that it has started, and killed when it
// goes on. Deferred calls run, and a recover of the cell does not see the interrupt;
// one that takes long goes on for a second beside the next cell. Goroutines of other
// cells and closures live on.
//
// A cell that is still being compiled ends at once too, and defines nothing. The parser
// and yaegi cannot be stopped in the middle of a piece of source: what they have
// begun ends in the background, and the next cell waits for it.
//
// A call of compiled code that does not return, sync.Cond.Wait for instance or
// http.Get, cannot be ended. The cell ends without it, with an [Error] that is
// Stuck and says so; the call goes on in the background, and what would follow it
// in the cell does not run. How long the session waits before is measured by the CPU
// time that the process received, unless the goroutine is blocked. The packages of
// quern check for interrupts and are awaited, until Interrupt is called again.
//
// # Concurrency
//
// Execute and Evaluate run one at a time. Complete, Inspect, IsComplete and
// Interrupt may be called from any goroutine and do not wait for a running cell.
// Several sessions in one process are independent but for what is global in
// compiled packages.
//
// # Cost
//
// Of go test -bench . and make memory, Go 1.26.8, two cores shared with other
// work:
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
// Of go run ./interp/internal/bench, milliseconds, best of three, beside CPython
// 3.11 in one run on the quiet machine; before is what yaegi alone took:
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
// and of a later run, with a panic in every tenth call of the second:
//
//	defer, 1e6               96     5066      117    0.82
//	defer, recover, 1e6     150     8463      100    1.50
//
// These functions, and loops of a cell's own statements that are like them, are run
// by package machine (the map insertion takes 118 ms when it is compiled). A
// function that has something in it which that package does not run, a defer
// statement in the body of a range over a function for instance, stays with yaegi
// and takes the time of the column before, and so does one that calls such a function
// in a loop.
//
// # Limits
//
// Blocks may be nested 250 deep, brackets 1000 deep, and an expression may have 10 000
// operators, selectors and calls; what has more is refused, and so is a function with more
// than 128 parameters and results. The time to compile a cell grows linearly with its
// length, but in a chain of calls with arguments with the square of that, as the type
// checker writes each call out for the case of an error: 4000 of them take 0.6 s.
//
// A recursion without end is ended before it has filled the stack of its
// goroutine, at 60 000 nested calls or more, by [Error] "runtime error: stack
// overflow"; no recover sees it. An unrecoverable fault (a concurrent map write)
// and os.Exit end the process: the kernel runs a session in a process of its own.
// A panic takes a time in the square of how deep it is nested: 10 ms at 100 calls,
// half a second at 3000.
package interp
