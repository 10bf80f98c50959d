// Package export turns a notebook into a Go program. The program prints what the notebook prints if its cells run
// once, from first to last.
//
// [Program] exports a notebook. It uses package check, so each name denotes in the program what it denotes in its
// cell:
//
//	cell                             program
//	x := f()                         x := f(), or x = f() and a package-level var x
//	func, type, const                the same declaration
//	func init, func main             functions with other names, called where the cells call them
//	package main                     omitted; main is called at the end of its cell
//	statements                       func cell1(), called by main
//	defer                            runs at the end of cell1
//	return                           ends cell1, without its result
//	x, as the last statement         display.Result(x), or fmt.Println(x) where that prints the same
//	f(), which returns an error      must(f())
//	ctx                              a context that is canceled when the program is interrupted
//	imports, also automatic imports  imports; renamed if a variable has the name
//	%get module@version              the output of the command, and a require line in go.mod
//	unused variables                 _ = x
//	%%, %main                        omitted
//	tag raises-exception             a failure ends the cell but not the program
//	tag skip-execution               omitted
//	Markdown                         comments
//
// A variable stays local to the function of its cell unless other code needs it. If a later cell defines a name
// again, the second object gets a number in the program.
//
// # What cannot be exported
//
// An [*Error] lists the cells that cannot be exported, and why: commands (%time, !ls) except %get; cells that do
// not compile; redefinitions that change functions of earlier cells, because a program has only one version of a
// function; types that are defined twice; and methods that would have changed what an earlier cell did. The program
// is type-checked, so it compiles.
//
// # Differences from a session
//
// Packages of %get are initialized before all cells. They are compiled for the machine, including the files that a
// session leaves out: cgo, assembly and embedded files.
//
// In a session, a cell that is a program ends with its main function, and so do its goroutines; os.Exit ends the
// cell. In the exported program os.Exit ends everything, and goroutines continue during the next cells.
//
// A variable behind the return that ends a cell is zero in the program; in a session, the cells below that use it do not compile.
//
// Like any program, it ends at a panic, also in a goroutine. Relative paths refer to the current directory.
// fmt.Scan reads standard input.
package export
