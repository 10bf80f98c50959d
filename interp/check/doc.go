// Package check turns the text of a cell into a type-checked program, or into a list of all
// its errors.
//
// A cell is any mix of imports, declarations and statements. [Checker.Check] splits, parses
// and type-checks it against the names that earlier cells have defined. Every error has the
// cell, line and column where the user wrote the code. Later cells do not see anything of a
// cell before [Checker.Commit].
//
// # How a cell becomes a Go file
//
// Imports, types, constants and functions go to package level, and statements become the body
// of one function. The variables that top-level statements define (x := 1, var y int) are
// passed to go/types as package-level variables made from the same syntax nodes. So functions
// of the cell see them, they have one types.Var during the whole session, and a loop or a
// deferred call in the same cell behaves as in any function. Go allows a use before the
// definition at package level but not in a function body. This package checks that itself: a
// cell never reads a variable before its own text has set it.
//
// # Redefinitions
//
// A name has the meaning that the last cell gave it. A variable that is defined again with the
// identical type keeps its types.Var, so functions of earlier cells see the new value. Any
// other redefinition creates a new object. Declarations of earlier cells that used the old
// object are then checked again, as a part of the new cell, against the new one
// ([Cell.Carried]).
//
// # Invariant
//
// The session has one types.Package. For each cell its scope is emptied in place and filled
// with the live objects that the cell mentions. A test checks that go/types accepts this.
//
// A Checker may be used by several goroutines at the same time.
package check
