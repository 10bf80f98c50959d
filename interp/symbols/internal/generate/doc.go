// Command generate writes what the interpreter must know of compiled packages, from the packages themselves:
//
//	own/                            types and documentation of our public packages (archive.Folder)
//	internal/own/                   symbol tables of them
//	internal/release/go126/         what belongs to one release of Go, the one that runs the command:
//	    std.zip                     types and documentation of the standard library on linux/amd64
//	    std_<platform>.zip          of the same what differs on another platform
//	    generated_*.go              symbol tables of what yaegi's own tables lack of the standard library
//	internal/release/generated_*    build constraints that select a folder, and an error for other releases
//
// It is run in interp/symbols by go generate; with -own it does only our packages, which is quick. The same packages give
// the same bytes. Which packages there are is said in packages.go, and nowhere else. One of our packages that does not
// compile is reported and left as it was. To add a release of Go, see docs/go-releases.md.
package main
