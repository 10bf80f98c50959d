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

// foreignPatterns are packages of others that notebooks may import, and those whose types these have in their API. They
// come after ours where a name is guessed.
var foreignPatterns = []string{
	"github.com/google/uuid",
	"golang.org/x/image/font",
	"gonum.org/v1/gonum/blas",
	"gonum.org/v1/gonum/blas/blas64",
	"gonum.org/v1/gonum/blas/cblas128",
	"gonum.org/v1/gonum/floats",
	"gonum.org/v1/gonum/lapack",
	"gonum.org/v1/gonum/mat",
	"gonum.org/v1/gonum/optimize",
	"gonum.org/v1/gonum/stat",
	"gonum.org/v1/gonum/stat/distmv",
	"gonum.org/v1/gonum/stat/distuv",
	"gonum.org/v1/plot",
	"gonum.org/v1/plot/font",
	"gonum.org/v1/plot/palette",
	"gonum.org/v1/plot/plotter",
	"gonum.org/v1/plot/text",
	"gonum.org/v1/plot/vg",
	"gonum.org/v1/plot/vg/draw",
}

// compiledIn returns the patterns of all packages of the folder own.
func compiledIn() []string { return slices.Concat(ownPatterns, foreignPatterns) }

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

// home is the platform that std.zip and the symbol tables are made from. What the tables name exists everywhere.
var home = target{"linux", "amd64"}

// others are the platforms that get an archive of what differs from home. Elsewhere no session starts.
var others = []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func suitable(path string) bool { return importable(path) && !slices.Contains(unsuitable, path) }
