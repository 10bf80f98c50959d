package generic

import (
	"embed"
	"go/build"
	"go/build/constraint"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed cmp/*.go crypto/hkdf/*.go crypto/pbkdf2/*.go database/sql/*.go encoding/json/jsontext/*.go errors/*.go hash/maphash/*.go iter/*.go maps/*.go math/rand/v2/*.go
//go:embed github.com/quernlab/quern/accel/kernel/*.go github.com/quernlab/quern/check/*.go github.com/quernlab/quern/widgets/progress/*.go
//go:embed reflect/*.go runtime/*.go slices/*.go sync/*.go sync/atomic/*.go unique/*.go weak/*.go
var sources embed.FS

// Source returns the source files of the package here that replaces a standard package, by file name, and whether there is
// one. The caller must not change the map.
func Source(path string) (map[string]string, bool) {
	files, ok := packages()[path]
	return files, ok
}

// packages collects the files by import path.
var packages = sync.OnceValue(func() map[string]map[string]string {
	found := make(map[string]map[string]string)
	err := fs.WalkDir(sources, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := sources.ReadFile(file)
		if err != nil {
			return err
		}
		if !selected(string(text)) {
			return nil
		}
		folder, name := path.Split(file)
		importPath := path.Clean(folder)
		if found[importPath] == nil {
			found[importPath] = make(map[string]string)
		}
		found[importPath][name] = string(text)
		return nil
	})
	if err != nil {
		panic(err) // cannot happen: reading an embedded file system succeeds
	}
	return found
})

// selected reports whether the build constraint of a file, if it has one, selects it for the Go release of this program.
func selected(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	if !constraint.IsGoBuild(line) {
		return true
	}
	expr, err := constraint.Parse(line)
	if err != nil {
		panic(err) // cannot happen: the compiler has read the line
	}
	return expr.Eval(func(tag string) bool { return slices.Contains(build.Default.ReleaseTags, tag) })
}
