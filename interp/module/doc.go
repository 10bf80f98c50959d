// Package module finds the source of Go modules for sessions.
//
// A [Set] holds the modules of a session: the requested modules and their requirements. Of
// each module it has the highest version that any of them names, as the go command does
// (https://go.dev/ref/mod#minimal-version-selection). Like the go command it ignores the
// replacements and exclusions of required modules.
//
// If the go command is installed, it downloads the modules, with its settings, its cache and
// its checksums. Otherwise they come from the proxies of GOPROXY, by the protocol of
// https://go.dev/ref/mod#goproxy-protocol, and are checked against the checksum database of
// GOSUMDB. The rules are those of the go command: GOPROXY with its commas, bars, "direct" and
// "off", GOPRIVATE, GONOPROXY, GONOSUMDB, and the file of "go env -w". No proxy is asked for a
// private module; a module that must come from its repository is rejected with [ErrNeedsGo].
// GOINSECURE concerns only repositories and so has no effect.
//
// A Set also has the modules on this machine that the working directory is in: the module of
// go.mod or the workspace of go.work, with their requirements, replacements, exclusions,
// vendored packages and checksums. [Set.Add] adds the module of another directory. The stamp of
// such a [Package] changes with its files.
//
//	set.go        versions, and the packages of modules
//	cache.go      the module cache, which files have changed, and undoing %get
//	workspace.go  go.mod and go.work files
//	local.go      packages on this machine
//	language.go   the version of the language of modules, and build tags
//	find.go       where a package is
//	proxy.go      downloads; gocommand.go by the go command
//
// A Set may be used by several goroutines.
package module
