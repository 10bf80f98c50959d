// Package lower turns checked cells into units: the functions for package vm, and the declarations of the variables that the
// cell adds to the session, for yaegi.
//
// [Program.Lower] takes a cell of package check and returns a unit, a [Unit]. The previous unit must have been committed or
// discarded.
//
// # How it works
//
// The passes of package desugar make the order of evaluation explicit, and package facts computes what must be known about a
// function before its first statement is compiled. Package vm compiles the functions and methods of the cell, and its
// initializers and statements as one function, together with the records that the session needs: which variables are defined,
// the result, and errors that nothing reads. Generic functions and types are instantiated on demand; those of compiled packages
// come from their sources. Large literals of constants become tables. yaegi evaluates the declarations of variables, whose
// types package layout makes, and owns the variables.
//
// # Files
//
// unit.go and program.go put units together; vm.go is what package compile asks for; cellbody.go has the statements of a cell;
// generic.go, subst.go and source.go have generics; declare.go the functions that are compiled at their first call
// and those that are declared again; table.go makes tables.
//
// # Errors
//
// A construct that is not supported causes an [*UnsupportedError], and never code that does something else. A panic in this
// package or in packages compile or vm causes an [*InternalError].
//
// # Limitations
//
// Comparisons of structs include blank fields, which only package unsafe can set.
package lower
