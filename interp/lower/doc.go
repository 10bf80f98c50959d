// Package lower lowers checked cells: it turns them into the subset of Go that
// yaegi v0.16.1 runs correctly.
//
// [Program.Lower] takes a cell of package check and returns a unit, a [Unit]: import
// declarations, declarations, and the calls that register method tables and run
// the cell. The previous unit must have been committed or discarded.
//
// # How it works
//
// yaegi never sees a method, an interpreted interface with methods, or an
// assertion to a type without identity in lowered code. Methods become functions. Where Go
// converts a value of an interpreted named type to an interface, lowered code creates a box:
// the value together with its descriptor, which represents the type at run time. All such
// conversions go through one function, convert. Dynamic calls, assertions, type switches and
// comparisons call the compiled run time, package rt, which also has the list of deferred calls.
// Generic functions and types are instantiated. Constants are folded, and large literals of
// constants become compiled tables.
//
// # Where a construct is
//
// Each file contains one kind of rewrite. It begins with a list of its rewrites, before and
// after, and why yaegi needs them. unit.go puts a unit together; function.go lowers functions
// and returns; stmt.go and expr.go select the rewrite of a node. The passes of package desugar run
// before; package facts computes what must be known about a function before its first statement is
// lowered.
//
// # What lowered code refers to
//
// Lowered code imports package "quern/rt" as rtʹ and package "quern/session" as sessionʹ (Result,
// Defined, Go, Stopped). It uses two variables that the session declares in yaegi:
// `var stopʹ bool` and `var positionʹ int`.
//
// # Errors
//
// A construct that cannot be lowered causes an [*UnsupportedError], and never code that
// does something else. A panic in this package causes an [*InternalError].
//
// # Limitations
//
// Lowered code differs from Go in the following points, because yaegi works through
// package reflect:
//
//   - Compiled packages that look for methods by reflection do not find those of
//     types of cells. They see a field a as Xa, and an embedded field as a named one.
//     Exceptions are package reflect, which is replaced in cells, and encoding/json,
//     encoding/xml, encoding/gob, encoding/binary, encoding/asn1, database/sql, flag,
//     testing/quick and templates: see package rt.
//   - Comparisons of structs include blank fields, which only package unsafe can set.
//   - The name of a local type of a generic function does not contain the type
//     arguments of the function.
//   - The error of a failed assertion is a runtime.Error with Go's text, but not a
//     *runtime.TypeAssertionError.
//
// Rejected are a call as the value of a blank field, and values with interfaces in them in
// encoding/xml.
//
// # Rules for changes
//
// The type checker records types of the generic source: use function.typeOf and not
// Info.Types to find a type that is to be rendered. Code for implicit conversions of Go
// must use exprTo or convert. The same cells must always give the same text.
package lower
