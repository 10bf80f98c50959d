// Package complete proposes completions at an offset of a cell.
//
// It works on a [check.Sketch]: the cell, even if it has errors, type-checked in the scope of
// the session. So it knows local variables, fields and promoted methods, packages that nothing
// imports yet, and the fields of a struct literal.
// Offsets are bytes.
package complete
