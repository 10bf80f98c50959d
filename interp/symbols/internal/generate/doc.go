// Command generate writes the generated files of interp/symbols from the compiled packages that cells may
// import:
//
//	own/                            types and documentation of our packages (archive.Folder)
//	internal/own/                   their symbol tables
//	internal/release/go126/         the files of one Go release, the one that runs the command:
//	    std.zip                     types and documentation of the standard library on linux/amd64
//	    std_<platform>.zip          the differences on another platform
//	    generated_*.go              symbols of the standard library that yaegi's tables lack
//	internal/release/generated_*    build constraints that select a folder, and an error for other releases
//
// go generate runs it in interp/symbols. With -own it only generates our packages, which is fast. The same
// packages give the same bytes. packages.go defines which packages there are. If one of our packages does
// not compile, its files are kept. To add a Go release, see docs/go-releases.md.
package main
