// Package symbols provides the compiled packages that a cell may import: the standard library, our own
// packages, and a few packages of other authors.
//
// For each package it provides the following, which go generate (internal/generate) makes from the package
// itself:
//
//   - [Packages]: the symbols, as tables of reflect.Value, for yaegi, which runs the cell;
//   - [Importer]: the types, for go/types. They are embedded in the binary, so no Go toolchain is needed;
//   - [Paths], [Guess]: the import paths, and the paths that a package name may stand for;
//   - [Doc]: the documentation of packages, exported names, methods and fields.
//
// Generic functions and types have types but no symbols, since package reflect cannot represent them.
// Package interp/generic contains bodies for the generic functions of the standard library.
//
// # Generated files
//
// internal/release has a folder for each Go release that can compile Quern; a build constraint selects one.
// In such a folder, std.zip contains the types and documentation of the standard library on linux/amd64,
// and std_<platform>.zip the packages whose types differ on another platform (for example os.O_CREATE and
// syscall). The folder own contains our packages. Run go generate with a Go release to regenerate its
// folder (docs/go-releases.md), and go run ./internal/generate -own when the API of one of our packages
// changes. [Check] returns an error on a platform without types; tests fail if files are stale.
//
// All functions may be called concurrently.
package symbols
