// Package magic implements the commands of cells that are not Go: lines that begin with % or !.
// %help lists them. There is no command for anything that Go code can do.
//
// [Parse] finds them before the cell is checked, and replaces each by a call of [Name], which
// runs the command. So a cell with commands is checked as a whole, and no part of it runs if
// there is an error anywhere. A command is at the start of a line where a Go statement could
// begin. A line that begins with ! is a Go expression if its first name is defined.
//
// Each command has a file of its own; the table is in magic.go.
package magic
