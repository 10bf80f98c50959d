// Package complete computes the completions at an offset of a cell.
//
// It uses a [check.Sketch]: the cell, which may contain errors, type-checked in the scope of the session.
// So it knows local variables, fields and promoted methods, packages that are not imported yet, and the
// fields of a struct literal. Offsets are in bytes.
package complete
