// Package release contains what differs between the Go releases that can compile Quern: the types,
// documentation and symbols of the standard library.
//
// Each release has a folder, such as go126 for Go 1.26. A build constraint selects the folder of the
// release that compiles the binary. With any other release the package does not compile;
// docs/go-releases.md says how to add one. All files except this one are generated.
package release

import "reflect"

// UnknownPlatform is the value of Release.Platform on a platform without an archive.
const UnknownPlatform = "unknown"

// Release contains the archives of a Go release.
type Release struct {
	Version  string // such as "go1.26"
	Standard string // archive of the standard library on linux/amd64
	Platform string // archive of the differences on this platform; "" if there are none, or UnknownPlatform
	tables   map[string]func() map[string]reflect.Value
}

// Current returns the release that compiled the binary.
func Current() Release { return current() }

// Symbols returns the symbols of the standard library that yaegi's tables, which are for Go 1.22, lack. The
// keys are yaegi's: import path and package name.
func (r Release) Symbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(r.tables))
	for key, table := range r.tables {
		symbols[key] = table()
	}
	return symbols
}
