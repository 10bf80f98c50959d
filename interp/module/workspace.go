package module

import (
	"cmp"
	"errors"
	"fmt"
	"go/version"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// ownModule is the path of this module. Its packages are always the compiled ones.
const ownModule = "github.com/quernlab/quern"

// workspace has the modules on this machine that belong to a directory: those of its go.work file,
// or the one of its go.mod file (https://go.dev/ref/mod#workspaces).
type workspace struct {
	file   string // the go.work or go.mod file; empty if there is none
	vendor string // directory of vendored packages; empty if there is none
	// vendored has the versions of the language of vendored modules, by path.
	vendored map[string]string
	modules  []localModule     // the longest path first
	stamps   map[string]string // of the files that were read, by path
	// replaced has the replacements of replace lines, by the path and version of the module. A
	// key without a version applies to all versions.
	replaced map[module.Version]replacement
	excluded map[module.Version]bool
	requires []module.Version
	pruned   bool // all go.mod files are of Go 1.17 or later, so requires has all modules that the packages need
	sums     map[string]string
}

// localModule is a module in a directory.
type localModule struct{ path, dir string }

// replacement is a directory, or another module.
type replacement struct {
	dir string
	by  module.Version
}

// GoVersionError reports a module that needs a newer Go than cells have.
type GoVersionError struct {
	File string // path of go.mod or go.work on this machine, or path@version/go.mod
	Line int
	Go   string // the version in the file
}

func (e *GoVersionError) Error() string {
	instead := "use an older version of the module"
	if filepath.IsAbs(e.File) {
		instead = "lower the go line"
	}
	return fmt.Sprintf("%s:%d: it needs Go %s, but cells run with %s: update Quern, or %s", e.File, e.Line, e.Go, languageVersion(), instead)
}

// languageVersion returns the version of Go of this program.
func languageVersion() string {
	fields := strings.Fields(runtime.Version()) // without experiments
	return fields[0]
}

// findWorkspace returns the workspace of a directory, with the modules of more directories.
func findWorkspace(dir string, more []string) (*workspace, error) {
	w := &workspace{
		stamps:   map[string]string{},
		replaced: map[module.Version]replacement{},
		excluded: map[module.Version]bool{},
		sums:     map[string]string{},
		pruned:   true,
	}
	work := os.Getenv("GOWORK")
	if work == "" {
		work = findAbove(dir, "go.work", w.exists)
	}
	mod := findAbove(dir, "go.mod", w.exists)
	var dirs []string
	switch {
	case work != "" && work != off:
		used, err := w.readWork(work)
		if err != nil {
			return w, err
		}
		w.file, dirs = work, used
	case mod != "":
		w.file, dirs = mod, []string{filepath.Dir(mod)}
	}
	replacedByWork := len(w.replaced)
	for _, d := range append(dirs, more...) {
		if err := w.readModule(d, replacedByWork > 0); err != nil {
			return w, err
		}
	}
	slices.SortStableFunc(w.modules, func(a, b localModule) int { return cmp.Compare(len(b.path), len(a.path)) })
	if w.file != "" {
		if vendor := filepath.Join(filepath.Dir(w.file), "vendor"); w.exists(filepath.Join(vendor, "modules.txt")) {
			w.vendor = vendor
			text, err := os.ReadFile(filepath.Join(vendor, "modules.txt"))
			if err != nil {
				return w, err
			}
			w.vendored = vendoredLanguages(string(text))
		}
	}
	return w, nil
}

// findAbove returns the path of a file in a directory or the nearest one above it; "" if there is
// none.
func findAbove(dir, name string, exists func(path string) bool) string {
	for {
		path := filepath.Join(dir, name)
		if exists(path) {
			return path
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// exists reports whether there is a file, and notes its state.
func (w *workspace) exists(path string) bool {
	w.stamps[path] = stampOf(path)
	return w.stamps[path] != ""
}

// current reports whether no file has changed that the workspace was read from.
func (w *workspace) current() bool {
	for path, stamp := range w.stamps {
		if stampOf(path) != stamp {
			return false
		}
	}
	return true
}

// isFile reports whether there is a regular file.
func isFile(path string) bool { return stampOf(path) != "" }

// stampOf returns a text that changes with a regular file; "" if there is none.
func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return info.ModTime().UTC().Format(time.RFC3339Nano) + fmt.Sprint(" ", info.Size())
}

// readWork reads a go.work file and returns the directories of its modules.
func (w *workspace) readWork(path string) (dirs []string, err error) {
	w.exists(path)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := modfile.ParseWork(path, text, nil)
	if err != nil {
		return nil, err
	}
	if file.Go != nil {
		if err := checkGo(path, file.Go); err != nil {
			return nil, err
		}
	}
	for _, u := range file.Use {
		dirs = append(dirs, absolute(filepath.Dir(path), u.Path))
	}
	w.addReplacements(filepath.Dir(path), file.Replace, false)
	return dirs, w.readSums(path + ".sum")
}

// readModule reads the go.mod file of a directory. Replacements of go.work have precedence.
func (w *workspace) readModule(dir string, keep bool) error {
	path := filepath.Join(dir, "go.mod")
	w.exists(path)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		return err
	}
	if file.Module == nil {
		return fmt.Errorf("%s has no module line", path)
	}
	if file.Go != nil {
		if err := checkGo(path, file.Go); err != nil {
			return err
		}
	}
	w.pruned = w.pruned && file.Go != nil && version.Compare("go"+file.Go.Version, "go1.17") >= 0
	w.modules = append(w.modules, localModule{file.Module.Mod.Path, dir})
	for _, r := range file.Require {
		w.requires = append(w.requires, r.Mod)
	}
	for _, e := range file.Exclude {
		w.excluded[e.Mod] = true
	}
	w.addReplacements(dir, file.Replace, keep)
	return w.readSums(filepath.Join(dir, "go.sum"))
}

func checkGo(path string, line *modfile.Go) error {
	if version.Compare("go"+line.Version, languageVersion()) <= 0 {
		return nil
	}
	// A patch release adds nothing that code could need.
	if version.Lang("go"+line.Version) == version.Lang(languageVersion()) {
		return nil
	}
	return &GoVersionError{File: path, Line: line.Syntax.Start.Line, Go: line.Version}
}

func (w *workspace) addReplacements(dir string, lines []*modfile.Replace, keep bool) {
	for _, r := range lines {
		if _, has := w.replaced[r.Old]; has && keep {
			continue
		}
		by := replacement{by: r.New}
		if r.New.Version == "" {
			by = replacement{dir: absolute(dir, r.New.Path)}
		}
		w.replaced[r.Old] = by
	}
}

// readSums reads a go.sum file, if there is one.
func (w *workspace) readSums(path string) error {
	w.exists(path)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && !strings.HasSuffix(f[1], "/go.mod") {
			w.sums[f[0]+"@"+f[1]] = f[2]
		}
	}
	return nil
}

func absolute(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// module returns the local module with the longest path that an import path may be in.
func (w *workspace) module(importPath string) (localModule, bool) {
	for _, m := range w.modules {
		if m.path == importPath || strings.HasPrefix(importPath, m.path+"/") {
			return m, true
		}
	}
	return localModule{}, false
}

// replacementOf returns what is in the place of a module.
func (w *workspace) replacementOf(m module.Version) (replacement, bool) {
	if r, ok := w.replaced[m]; ok {
		return r, true
	}
	r, ok := w.replaced[module.Version{Path: m.Path}]
	return r, ok
}

// importPathOf returns the import path of a directory, with which it imports internal packages; ""
// if it is in no local module.
func (w *workspace) importPathOf(dir string) string {
	best := ""
	for _, m := range w.modules {
		rest, err := filepath.Rel(m.dir, dir)
		if err != nil || rest == ".." || strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			continue
		}
		path := m.path
		if rest != "." {
			path += "/" + filepath.ToSlash(rest)
		}
		if len(path) > len(best) {
			best = path
		}
	}
	return best
}
