// Package export makes a Go program of a notebook. The program prints what the notebook prints if
// its cells run once, from the first to the last.
//
// [Program] makes the program. It uses package check, so a name means in the program what it
// means in its cell:
//
//	cell                          program
//	x := f()                      x := f(), or x = f() and a package-level var x
//	func, type, const             themselves
//	func init, func main          functions of other names, called where cells call them
//	package main                  nothing; main is called at the end of its cell
//	statements                    func cell1(), called by main
//	defer                         runs at the end of cell1
//	x, as the last statement      display.Result(x), or fmt.Println(x) where that prints the same
//	f(), which returns an error   must(f())
//	ctx                           a context that an interrupt of the program cancels
//	imports, also automatic ones  imports; renamed if a variable has the name
//	%get module@version           what it prints, and a require line of go.mod
//	what is never used            _ = x
//	%%, %main                     nothing
//	tag raises-exception          a failure ends the cell and not the program
//	tag skip-execution            nothing
//	Markdown                      comments
//
// A variable stays local to the function of its cell if nothing else needs it. A name that a later
// cell defines again gets a number in the program.
//
// # What cannot be exported
//
// A [*Refusal] names each cell that cannot be exported, and why: commands (%time, !ls) except %get;
// cells that do not compile; a definition that changes functions of earlier cells, because a program
// has only one version of them; a type that is defined again; and a method that would have changed
// what an earlier cell did. The program is type-checked, so it compiles.
//
// # What differs
//
// Packages of %get are initialized before all cells, and are compiled for this machine, including
// files that a session excludes: cgo, assembly and embedded files.
//
// In a session, a cell that is a program ends with its main, and so do its goroutines; os.Exit ends
// the cell. In the exported program os.Exit ends everything, and goroutines go on beside the next
// cells.
//
// Like any program it ends at a panic, also of a goroutine. Files are those of the folder in which
// it runs. fmt.Scan reads standard input.
package export
