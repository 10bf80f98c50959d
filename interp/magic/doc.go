// Package magic has the few commands of cells that are not Go: lines that begin with % or !.
// %help lists them. There are none for what Go can do itself.
//
// [Parse] finds them before the cell is checked, and replaces each by a call of [Name], which
// runs the command. So a cell with commands is checked as a whole, and nothing of it runs if it
// has an error anywhere. A command begins a line where a Go statement could begin; a line that
// begins with ! is a Go expression if its first name is known.
//
// Each command has a file of its own; the table is in magic.go.
package magic
