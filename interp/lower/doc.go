// Package lower turns checked cells into the subset of Go that yaegi,
// yaegi v0.16.1, runs right.
//
// [Program.Lower] takes a cell of package check and returns a [Unit]: import
// declarations, declarations, and the calls that register method tables and run
// the cell. The unit before must have been committed or discarded.
//
// # The idea
//
// yaegi never sees a method, an interpreted interface with methods, or an
// assertion to a type that it has no identity for. Methods become functions. A
// value of an interpreted named type becomes a box with its type descriptor
// where Go converts it to an interface, and all such conversions go through one
// function, convert. Dynamic calls, assertions, type switches and comparisons
// ask the compiled run time, package rt. Deferred calls are on a list of the run
// time. Generics are instantiated. Constants are folded, and large literals of them
// made.
//
// # Where a construct is
//
// One file is one kind of rewrite and begins with the list of its rewrites,
// before and after, and why yaegi needs them. unit.go has the order of a
// unit; function.go functions and returns; stmt.go and expr.go find the rewrite
// of a node; facts.go is what must be known of a function before its first
// statement.
//
// # What lowered code refers to
//
// Package "quern/rt" as rtʹ, package "quern/session" as sessionʹ (Result, Go,
// Interrupted, Stopped), and two variables that the session declares to the
// engine: `var stopʹ bool` and `var positionʹ int`.
//
// # Errors
//
// What cannot be expressed ends in an [*UnsupportedError], never in code that
// does something else. A panic in this package ends in an [*InternalError].
//
// # Limitations
//
// What lowered code does not do as Go does, because yaegi works through
// package reflect:
//
//   - Other compiled packages that find methods by reflection do not find those of
//     types of cells; they see field a as Xa, and an embedded field as a named one.
//     Package reflect itself has others in cells, and encoding/json, encoding/xml,
//     encoding/gob, encoding/binary, encoding/asn1, database/sql, flag,
//     testing/quick and templates see what Go sees, see package rt.
//   - Blank fields, which only package unsafe can set, count where structs are
//     compared.
//   - The name of a local type of a generic function does not tell the type
//     arguments of the function.
//   - The error of a failed assertion is a runtime.Error with Go's text, but no
//     *runtime.TypeAssertionError.
//
// Refused: a call as the value of a blank field, values with interfaces in them for
// encoding/xml.
//
// # For whoever changes it
//
// Types of nodes are those of the generic text: ask function.typeOf, never
// Info.Types, for a type that is to be rendered. A place where Go converts
// implicitly must use exprTo or convert. The same cells give the same text.
package lower
