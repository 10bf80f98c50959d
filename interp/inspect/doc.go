// Package inspect describes the name at a place in a cell: its declaration as
// Go and its documentation, as Markdown and as plain text.
//
// It works on a [check.Sketch], so the cell may be broken. Offsets are bytes.
package inspect
