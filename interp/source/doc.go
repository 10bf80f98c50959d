// Package source makes packages that cells can import out of the source of
// modules.
//
// A [Loader] is an importer: what the one behind it does not have it looks for in
// the modules of the session, parses, and checks, with all that it imports. Such a
// package is interpreted as cells are, and so, for all who ask for its path, it is
// of the same kind: types.Package.Path is "main". Its name is its own.
//
// What cannot be interpreted is refused with an [*Error]: cgo, assembly, files that
// are embedded, packages of the standard library that cells do not have.
package source
