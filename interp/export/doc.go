// Package export makes a Go program of a notebook: one that prints what the
// notebook prints, when its cells run once, from the first to the last.
//
// [Program] is all there is. It takes the cells as package check understands
// them, so a name means in the program what it meant in its cell:
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
//	imports, also those unsaid    imports; renamed where a variable has the name
//	%get module@version           what it prints, and a require line of go.mod
//	what is never used            _ = x
//	%%, %main                     nothing
//	tag raises-exception          a failure ends the cell and not the program
//	tag skip-execution            nothing
//	Markdown                      comments
//
// A variable stays in the function of its cell where nothing else needs it. A
// name that a later cell defines anew gets a number in the program.
//
// # What cannot be exported
//
// A [*Refusal] names each cell that stands against it, and why: commands (%time,
// !ls) but for %get; cells that do not compile; a definition that changes functions of
// earlier cells, since a program has them once; a type that is defined anew, and
// a method that an earlier cell lacked and would have noticed. What is made is
// type-checked, so a program that is handed out compiles.
//
// # What differs
//
// Packages that cells get begin before all cells, and are compiled for this
// machine, so with files that a session leaves out: those for cgo, assembly and
// embedded ones.
//
// A cell that is a program ends with its main in a session, and so do its goroutines; os.Exit
// in it ends that cell. Here os.Exit ends all, and goroutines go on beside the next cells.
//
// The program ends at a panic, also of a goroutine, as programs do. Files are
// those of the folder in which it runs. fmt.Scan reads standard input.
package export
