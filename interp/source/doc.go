// Package source makes packages of modules, which cells can import, from their source.
//
// A [Loader] is an importer. If the importer of compiled packages does not have a package, the
// Loader looks for it in the modules of the session, and parses and checks it with all that it
// imports. Such a package is interpreted like cells; package origin tells it from a compiled one.
//
// [Loader.Needed] returns what has to run before a cell: when a package is imported for the first
// time, its initializers and init functions, and whatever those and the cell reach. Most of a
// module is never lowered, and so never rejected.
//
//	loader.go    finding and checking packages
//	read.go      reading and parsing them, several at once
//	selection.go which files of a package are read: code in Go instead of assembly; which packages of a module contain such code
//	replacement.go functions without a body, and what replaces them
//	embed.go     variables of //go:embed lines
//	reload.go    packages whose files have changed
//	part.go      what has to run, and what has run
//	table.go     large literals of integers
//	reach.go     which declarations code reaches
//	converted.go which types code converts to interfaces
//	dispatch.go  which methods interfaces can then call
//	wait.go      which initializers can run later than the import
//	later.go     which functions can be compiled later than the code that calls them; the garbage collector
//	body.go      function bodies that are checked then; lacking.go whether they may lead to a function without a body
//
// Packages that cannot be interpreted are rejected with an [*Error]: those that need cgo, or
// packages of the standard library that cells do not have.
package source
