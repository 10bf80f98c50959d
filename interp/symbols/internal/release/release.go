// Package release has what is different in each Go release that Quern compiles with: the types, the documentation and the
// symbols of the standard library.
//
// Each release has a folder, go126 for Go 1.26, and a build constraint selects the one of the release that compiles, so
// that a binary contains one. With any other release the package does not compile; docs/go-releases.md says how to add one.
// All files but this one are generated.
package release

import "reflect"

// UnknownPlatform is the Platform of a Release for a platform that has no archive.
const UnknownPlatform = "unknown"

// Release is what the binary contains of a Go release.
type Release struct {
	Version  string // "go1.26"
	Standard string // the archive of the standard library on linux/amd64
	Platform string // the archive of what differs on this platform: "" for nothing, or UnknownPlatform
	tables   map[string]func() map[string]reflect.Value
}

// Current returns the release that compiled the binary.
func Current() Release { return current() }

// Symbols returns the tables of what yaegi's tables, which are of Go 1.22, do not have of the standard library. The keys are
// yaegi's: import path and package name.
func (r Release) Symbols() map[string]map[string]reflect.Value {
	symbols := make(map[string]map[string]reflect.Value, len(r.tables))
	for key, table := range r.tables {
		symbols[key] = table()
	}
	return symbols
}
