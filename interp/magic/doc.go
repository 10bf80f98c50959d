// Package magic has the few commands of a cell that are no Go: lines that begin
// with % or !. %help lists them; there is none for what Go has.
//
// [Parse] finds them before the cell is checked, and puts in the place of each a
// call of [Name], which runs it in its turn. So a cell with commands is one cell:
// it is checked as a whole, and nothing of it runs when anything is wrong. A
// command begins a line where a Go statement could; an expression of Go that
// begins with ! stays one where its first name is known.
//
// One command a file; the table is in magic.go.
package magic
