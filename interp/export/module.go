package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// goRelease is the least release of Go that the program needs, and our module
// does.
const goRelease = "1.26.0"

// Module makes go.mod and go.sum of a program with these imports. Source is the
// folder of our module to build against; with it both files are complete. Without
// it the versions are those that this binary was built with, and sum is nil: go
// mod tidy fetches what is missing, if anything is imported that needs it.
func Module(name string, imports []string, source string) (mod, sum []byte, err error) {
	if err := module.CheckImportPath(name); err != nil {
		return nil, nil, err
	}
	f := &modfile.File{}
	err = errors.Join(f.AddModuleStmt(name), f.AddGoStmt(goRelease))
	if err != nil {
		return nil, nil, err
	}
	if !NeedsModules(imports) {
		mod, err = f.Format()
		return mod, nil, err
	}
	if source != "" {
		return sourceModule(f, source)
	}
	for m, version := range built() {
		if slices.ContainsFunc(imports, func(path string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
			err = errors.Join(err, f.AddRequire(m, version))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	f.SortBlocks()
	f.Cleanup()
	mod, err = f.Format()
	return mod, nil, err
}

// NeedsModules says whether a program with these imports needs more than the
// standard library.
func NeedsModules(imports []string) bool { return slices.ContainsFunc(imports, needsModule) }

// needsModule tells packages of modules from those of the standard library.
func needsModule(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// own is the path of our module.
var own = strings.TrimSuffix(modulePath, "/")

// sourceModule requires all that our module does, and takes that from a folder.
func sourceModule(f *modfile.File, source string) (mod, sum []byte, err error) {
	source, err = filepath.Abs(source)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(source, "go.mod")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := modfile.Parse(path, b, nil)
	if err != nil {
		return nil, nil, err
	}
	if theirs.Module == nil || theirs.Module.Mod.Path != own {
		return nil, nil, fmt.Errorf("%s is not the module %s", path, own)
	}
	if sum, err = os.ReadFile(filepath.Join(source, "go.sum")); err != nil {
		return nil, nil, err
	}
	f.AddNewRequire(own, "v0.0.0", false)
	for _, r := range theirs.Require {
		f.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
	}
	if err := f.AddReplace(own, "", source, ""); err != nil {
		return nil, nil, err
	}
	f.Cleanup()
	mod, err = f.Format()
	return mod, sum, err
}

// built are the modules of this binary with their versions.
func built() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	versions := map[string]string{}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Version != "" && m.Version != "(devel)" {
			versions[m.Path] = m.Version
		}
	}
	return versions
}

// notInPath are the characters that the name of a module should not have.
var notInPath = regexp.MustCompile(`[^a-z0-9._-]+`)

// ModuleName makes the name of a module of that of a notebook.
func ModuleName(notebook string) string {
	name := strings.TrimSuffix(filepath.Base(notebook), filepath.Ext(notebook))
	name = strings.Trim(notInPath.ReplaceAllString(strings.ToLower(name), "-"), ".-_")
	if name == "" || module.CheckImportPath(name) != nil {
		return "notebook"
	}
	return name
}
