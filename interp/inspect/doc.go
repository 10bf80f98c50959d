// Package inspect describes the name at an offset of a cell: its declaration in Go and its documentation,
// as Markdown and as plain text.
//
// It uses a [check.Sketch], so the cell may contain errors. Offsets are in bytes.
package inspect
