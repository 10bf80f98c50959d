// Command generate writes what the interpreter must know of compiled packages, from the packages themselves:
//
//	std.zip                types and documentation of the standard library (package archive) on linux/amd64
//	std_<platform>.zip     of the same what differs on another platform
//	own.zip                the same of our public packages
//	internal/supplement/   symbol tables of what yaegi's own tables lack of the standard library
//	internal/own/          symbol tables of our public packages
//
// It is run in interp/symbols by go generate; with -own it does only our packages, which is quick. The same packages give
// the same bytes. Which packages there are is said in packages.go, and nowhere else. One of our packages that does not
// compile is reported and left as it was.
package main
