// Package source makes packages that cells can import out of the source of
// modules.
//
// A [Loader] is an importer: what the one behind it does not have it looks for in
// the modules of the session, parses, and checks, with all that it imports. Such a
// package is interpreted as cells are, and so, for all who ask for its path, it is
// of the same kind: types.Package.Path is "main". Its name is its own.
//
// [Loader.Needed] says what of the packages has to run before a cell: of a package
// that is imported first its initialisers and init functions, and whatever those and
// the cell reach. Most of a module is never lowered, and never refused.
//
//	loader.go   finding and checking packages
//	read.go     reading and parsing them, several at once
//	part.go     what has to run, and what has run
//	reach.go    which declarations code reaches
//	wait.go     which initialisers can run later than the import
//
// What cannot be interpreted is refused with an [*Error]: cgo, assembly, files that
// are embedded, packages of the standard library that cells do not have.
package source
