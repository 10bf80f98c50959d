// Package rt is the compiled part of the interpreter's run time. It gives the
// named types of cells their identity.
//
// The VM, and the variables of a session, have no named types: a value of
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
// interface values as they are.
//
// # Interfaces
//
// Interfaces without methods are interface{} in the VM, and compiled named interfaces (error, io.Reader) stay as they are. All other
// interfaces with methods are [layout.Interface] there: their first word is a method table of the declared interface and the declared
// type of the value. Both are made when a value becomes a value of the interface for the first time. The runtime makes
// the table, so compiled packages see values of the same interface as equal, and call its methods by it.
//
// # What code of cells calls
//
// [Registry.Overrides] and [Registry.Methods] return what code of cells calls instead of functions and methods of compiled packages: waits
// that an interrupt ends, and allocations that check the memory. A session adds more.
//
// # Calls of methods
//
// Package vm registers the methods of types as [MethodCode], whose receiver is the data word of an interface value. [Registry.Method] returns
// what a call of a method of a value runs, also if the type has it through embedded fields. Package vm remembers that at each call. For compiled
// packages, a made type has a function for each method that does the same.
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
// Interface values that only compiled packages, variables of packages, channels, closures, running goroutines or slices behind their length hold
// keep the methods that their type had when they were made; docs/decisions/050-real-types.md lists all. A method of an interface keeps the types in its signature when one of them gets a method. A method with a type
// in its signature that has no compiled form is missing for compiled packages. Package reflect does not see that a type implements an interface with
// such a method, or that a compiled type implements one whose methods mention an instance of a compiled function type, such as
// iter.Seq[reflect.StructField]; see named.Table. Code of cells does.
//
// # Concurrency
//
// All functions may be called from any goroutine. Go types are immutable once they have
// been checked, but go/types computes method sets lazily. So ID and all functions that
// take a types.Type must be called by the goroutine that checks and lowers, or while no
// cell is being checked.
package rt
