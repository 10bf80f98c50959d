package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/quernlab/quern/interp/symbols"
)

// goRelease returns the oldest Go release that may compile the program: the release that compiled this
// binary, whose language the cells use.
func goRelease() string { return strings.TrimPrefix(symbols.Release(), "go") + ".0" }

// Module returns the go.mod and go.sum of a program. source is a folder with our module to build against;
// then both files are complete except for the sums of modules from %get. If source is "", the compiled
// packages have the versions that this binary was built with, and sum is nil: if the program imports such
// packages, go mod tidy must complete the files.
func Module(name string, program *Source, source string) (mod, sum []byte, err error) {
	if err := module.CheckImportPath(name); err != nil {
		return nil, nil, err
	}
	if isStandard(name) {
		return nil, nil, fmt.Errorf("module name %q is reserved for the standard library", name)
	}
	f := &modfile.File{}
	err = errors.Join(f.AddModuleStmt(name), f.AddGoStmt(goRelease()))
	if err != nil {
		return nil, nil, err
	}
	switch compiled := program.compiled(); {
	case len(compiled) == 0:
	case source != "":
		if sum, err = requireSource(f, source); err != nil {
			return nil, nil, err
		}
	default:
		for m, version := range symbols.Versions() {
			if slices.ContainsFunc(compiled, func(path string) bool { return path == m || strings.HasPrefix(path, m+"/") }) {
				f.AddNewRequire(m, version, false)
			}
		}
	}
	for _, r := range program.Local.Require {
		f.AddNewRequire(r.Path, r.Version, false)
	}
	for _, r := range program.Local.Replace {
		err = errors.Join(err, f.AddReplace(r.Old.Path, r.Old.Version, r.New.Path, r.New.Version))
	}
	for _, m := range program.Local.Exclude {
		err = errors.Join(err, f.AddExclude(m.Path, m.Version))
	}
	if len(program.Local.Sum) > 0 {
		sum = append(sum, strings.Join(program.Local.Sum, "\n")+"\n"...)
	}
	for _, r := range program.Modules {
		err = errors.Join(err, f.DropRequire(r.Path))
		f.AddNewRequire(r.Path, r.Version.Version, r.Indirect)
	}
	if err != nil {
		return nil, nil, err
	}
	f.Cleanup()
	f.SetRequireSeparateIndirect(slices.Clone(f.Require))
	f.Cleanup()
	mod, err = f.Format()
	return mod, sum, err
}

// compiled returns the imports of packages that are compiled into this binary, without the standard
// library.
func (s *Source) compiled() []string {
	return slices.DeleteFunc(slices.Clone(s.Imports), func(path string) bool {
		below := func(m module.Version) bool { return path == m.Path || strings.HasPrefix(path, m.Path+"/") }
		return !needsModule(path) || slices.ContainsFunc(s.Local.Require, below) || slices.ContainsFunc(s.Modules, func(r Requirement) bool {
			return !symbols.Has(path) && (path == r.Path || strings.HasPrefix(path, r.Path+"/"))
		})
	})
}

// NeedsCompiled reports whether the program imports packages of modules that are compiled into this binary.
func (s *Source) NeedsCompiled() bool { return len(s.compiled()) > 0 }

// needsModule reports whether a path belongs to a module and not to the standard library.
func needsModule(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// own is the path of our module.
var own = strings.TrimSuffix(modulePath, "/")

// requireSource adds our module, replaced by a folder, and all its requirements.
func requireSource(f *modfile.File, source string) (sum []byte, err error) {
	source, err = filepath.Abs(source)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(source, "go.mod")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	theirs, err := modfile.Parse(path, b, nil)
	if err != nil {
		return nil, err
	}
	if theirs.Module == nil || theirs.Module.Mod.Path != own {
		return nil, fmt.Errorf("%s is not the go.mod file of module %s", path, own)
	}
	if sum, err = os.ReadFile(filepath.Join(source, "go.sum")); err != nil {
		return nil, err
	}
	f.AddNewRequire(own, "v0.0.0", false)
	for _, r := range theirs.Require {
		f.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
	}
	return sum, f.AddReplace(own, "", source, "")
}

// newer reports whether a version is newer than another. Either may be "".
func newer(version, than string) bool { return semver.Compare(version, than) > 0 }

// notInPath matches the characters that ModuleName replaces.
var notInPath = regexp.MustCompile(`[^a-z0-9._-]+`)

// ModuleName returns a module path for a notebook.
func ModuleName(notebook string) string {
	name := strings.TrimSuffix(filepath.Base(notebook), filepath.Ext(notebook))
	name = strings.Trim(notInPath.ReplaceAllString(strings.ToLower(name), "-"), ".-_")
	switch {
	case name == "" || module.CheckImportPath(name) != nil:
		return "notebook"
	case isStandard(name):
		return name + "-notebook"
	}
	return name
}

// isStandard reports whether a path is reserved for the Go project or belongs to the standard library.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains([]string{"builtin", "cmd", "internal", "vendor"}, first) || !strings.Contains(first, ".") && symbols.Has(path)
}
