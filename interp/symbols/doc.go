// Package symbols knows the compiled packages that a cell may import: the standard library and our own.
//
// For each it has four things, all made from the packages themselves by go generate (internal/generate):
//
//   - [Packages]: the symbols, as tables of reflect.Value, for yaegi that runs the cell;
//   - [Importer]: the types, for go/types; they lie in the binary, so no Go toolchain is needed;
//   - [Paths], [Guess]: the import paths, and those that a package name may stand for;
//   - [Doc]: the documentation of packages, exported names, methods and fields.
//
// Generic functions and types are in the types but not in the symbol tables, since package reflect cannot hold them; package
// interp/generic has bodies for those of the standard library.
//
// # What is generated, and when
//
// internal/release has a folder for each Go release that Quern compiles with, and a build constraint selects one. In it,
// std.zip holds types and documentation of the standard library on linux/amd64, std_<platform>.zip the packages
// whose types are others elsewhere (os.O_CREATE and syscall differ, for instance). The folder own holds our packages. Run
// go generate with a release of Go to regenerate its folder (docs/go-releases.md), and go run ./internal/generate -own when
// the API of one of our packages changes. [Check] reports a binary for a platform that has no types; tests report stale
// files.
//
// All functions may be called by several goroutines.
package symbols
