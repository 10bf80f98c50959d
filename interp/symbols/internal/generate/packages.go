package main

import "slices"

// module is our import path.
const module = "github.com/quernlab/quern"

// ownPatterns are the trees of packages that notebooks may import, and what the bodies of interp/generic call. A new
// package below them is found by itself.
var ownPatterns = []string{
	module + "/accel/...",
	module + "/display/...",
	module + "/gpu/...",
	module + "/interp/generic/compiled",
	module + "/plots/...",
	module + "/widgets/...",
}

// unsuitable are packages of the standard library that a notebook cannot use.
var unsuitable = []string{
	"plugin",                 // linking it makes the binary dynamic, and it cannot open anything without cgo
	"runtime/cgo",            // nothing in it is for programs without cgo
	"runtime/race",           // has no API
	"testing/cryptotest",     // needs a *testing.T
	"testing/slogtest",       // the same
	"testing/synctest",       // the same
	"crypto/mlkem/mlkemtest", // for the tests of implementations
}

// home is the platform that std.zip and the symbol tables are made from. What the tables name exists everywhere, unless
// constraints says not.
var home = target{"linux", "amd64"}

// others are the platforms that get an archive of what differs from home. Elsewhere no session starts.
var others = []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// constraints are the build constraints of tables that not every platform can compile.
var constraints = map[string]string{}

func suitable(path string) bool { return importable(path) && !slices.Contains(unsuitable, path) }
