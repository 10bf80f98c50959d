// Package build builds a program of Quern with additional packages compiled in, for modules that cannot be
// interpreted: those with assembly, cgo or tricks with the Go runtime. It needs the go command and the source of
// Quern.
//
//	build.go     Program: resolves, describes, builds
//	source.go    where the source of Quern is
//	generate.go  the file with the symbols, which an overlay adds to interp/symbols/internal/extra
//	cache.go     programs that have been built
//
// The modules are resolved together with those of Quern by the go command, in a module of its own in a temporary
// directory. All packages of a module are compiled in, or only the one that the user names, and those whose types
// occur in their API. Generic functions and types cannot be used, because package reflect cannot represent them.
package build
