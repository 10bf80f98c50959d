// Package check turns the text of a cell into a typed program, or into the
// list of everything that is wrong with it.
//
// A cell is any mix of imports, declarations and statements. [Checker.Check]
// splits it, parses it and type-checks it against the names that earlier cells
// defined, so that every error has the cell, line and column where the user
// wrote it. Nothing of a cell is visible to later ones before
// [Checker.Commit].
//
// # How a cell becomes a Go file
//
// Imports, types, constants and functions go to package level, statements
// become the body of one function. The variables that top-level statements
// define (x := 1, var y int) are handed to go/types as package-level variables
// built from the very same syntax nodes. So functions of the cell see them,
// they have one types.Var for the life of the session, and a loop or a deferred
// call in the same cell behaves as in any function. What package level would
// allow and a function body would not (use before definition) is checked here:
// a cell never reads a variable that its own text has not set yet.
//
// # Names over time
//
// A name means what the last cell that defined it says. A variable defined
// again with the identical type keeps its types.Var, so functions of earlier
// cells see the new value. Any other redefinition makes a new object, and the
// declarations of earlier cells that used the old one are checked again, as
// part of the new cell, against the new one ([Cell.Carried]).
//
// # Invariant
//
// The session has one types.Package. Its scope is emptied in place and filled
// per cell with the live objects that the cell mentions. That go/types accepts
// this is pinned by a test.
//
// A Checker may be used from several goroutines at once.
package check
