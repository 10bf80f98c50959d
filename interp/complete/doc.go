// Package complete proposes what may stand at a place in a cell.
//
// It works on a [check.Sketch]: the cell, however broken, type-checked in the
// scope of the session. So it knows locals, fields and promoted methods,
// packages that nothing imports yet, and the fields of a struct literal.
// Offsets are bytes.
package complete
