package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/quernlab/quern/interp/symbols/internal/describe"
)

// module is the path of our module.
const module = "github.com/quernlab/quern"

// ownPatterns are our packages that notebooks may import, and packages that the bodies in interp/generic
// call. New packages below them are included automatically.
var ownPatterns = []string{
	module + "/accel/...",
	module + "/check",
	module + "/display/...",
	module + "/gpu/...",
	module + "/interp/generic/compiled",
	module + "/plots/...",
	module + "/widgets/...",
}

// foreignPatterns are packages of other authors that notebooks may import, and packages whose types occur
// in their API. When a package name is guessed, our packages take precedence.
var foreignPatterns = []string{
	"github.com/google/uuid",
	"golang.org/x/image/font",
	"golang.org/x/image/font/sfnt",
	"golang.org/x/image/math/fixed",
	"gonum.org/v1/gonum/blas",
	"gonum.org/v1/gonum/blas/blas64",
	"gonum.org/v1/gonum/blas/cblas128",
	"gonum.org/v1/gonum/floats",
	"gonum.org/v1/gonum/lapack",
	"gonum.org/v1/gonum/lapack/lapack64",
	"gonum.org/v1/gonum/mat",
	"gonum.org/v1/gonum/optimize",
	"gonum.org/v1/gonum/spatial/r1",
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

// compiledIn returns the patterns of all packages in the folder own.
func compiledIn() []string { return slices.Concat(ownPatterns, foreignPatterns) }

// unsuitable are packages of the standard library that cells cannot use.
var unsuitable = []string{
	"plugin",                 // linking it makes the binary dynamic, and it cannot open plugins without cgo
	"runtime/cgo",            // useless without cgo
	"runtime/race",           // has no API
	"testing/cryptotest",     // needs a *testing.T
	"testing/slogtest",       // needs a *testing.T
	"crypto/mlkem/mlkemtest", // for tests of implementations
}

// target is a platform. cgo is always off; it does not change exported names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// archive returns the name of the file with the differences from home.
func (t target) archive() string { return "std_" + t.os + "_" + t.arch + ".zip" }

// list compiles the packages of the patterns for a platform.
func list(t target, patterns ...string) ([]describe.Listed, error) {
	build := describe.Build{Environment: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch), Flags: []string{"-trimpath"}}
	packages, err := build.List(context.Background(), patterns...)
	if err != nil {
		return nil, fmt.Errorf("for %s: %w", t, err)
	}
	return packages, nil
}

// home is the platform of std.zip and of the symbol tables. All names in the tables exist on all platforms.
var home = target{"linux", "amd64"}

// others are the platforms with an archive of the differences from home. On other platforms no session
// starts.
var others = []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}, {"js", "wasm"}}

func suitable(path string) bool {
	return describe.Importable(path) && !slices.Contains(unsuitable, path)
}
