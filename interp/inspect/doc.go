// Package inspect describes the name at an offset of a cell: its declaration as Go and its
// documentation, as Markdown and as plain text.
//
// It works on a [check.Sketch], so the cell may have errors. Offsets are bytes.
package inspect
