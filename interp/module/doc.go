// Package module finds the source of Go modules for sessions.
//
// A [Set] holds the modules of a session: those that were asked for and what they
// require, each in the highest version that any of them names, which is how the go
// command selects versions (https://go.dev/ref/mod#minimal-version-selection).
// Replacements and exclusions of required modules do not count there either.
//
// Modules come through the go command where there is one, with its settings, its
// cache and its checksums. Without it they come from the proxies of GOPROXY, by
// the protocol of https://go.dev/ref/mod#goproxy-protocol, and are checked against
// the checksum database of GOSUMDB. The rules are the go command's: GOPROXY with its
// commas, bars, "direct" and "off", GOPRIVATE, GONOPROXY, GONOSUMDB, and the file of
// "go env -w". A private module is not asked for at any proxy; what must come from a
// repository is refused with [ErrNeedsGo]. GOINSECURE is about repositories alone, and
// changes nothing.
//
// A Set may be used by several goroutines.
package module
