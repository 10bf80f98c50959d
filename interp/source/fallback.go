package source

import (
	"go/build"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/interp/module"
)

// Fallbacks returns the packages of a module for which a compiler would use assembly or cgo, and of which cells run the
// code in Go that takes its place. The module must not be one on this machine. p is its root.
func (l *Loader) Fallbacks(p module.Package) (paths []string) {
	target := build.Default
	target.CgoEnabled = true
	target.BuildTags = append(target.BuildTags, module.BuildTags()...)
	_ = filepath.WalkDir(p.Dir, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil // what cannot be read cannot be imported either, which reports the reason
		}
		name := entry.Name()
		if dir != p.Dir && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || exists(filepath.Join(dir, "go.mod"))) {
			return fs.SkipDir
		}
		found, err := target.ImportDir(dir, 0)
		if err != nil || found.Name == "main" || len(found.SFiles)+len(found.CgoFiles) == 0 {
			return nil
		}
		relative, err := filepath.Rel(p.Dir, dir)
		if err != nil {
			return nil
		}
		importPath := path.Join(p.Module.Path, filepath.ToSlash(relative))
		f := l.readFiles(importPath, module.Package{Module: p.Module, Dir: dir, Language: p.Language})
		if f.err == nil && len(f.missing) == 0 {
			paths = append(paths, importPath)
		}
		return nil
	})
	return paths
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
