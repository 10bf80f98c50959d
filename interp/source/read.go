package source

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/interp/embedded"
	"github.com/quernlab/quern/interp/module"
)

// files are the source of a package, or why it cannot be interpreted.
type files struct {
	imports  []string
	parsed   []*ast.File
	patterns []string // of all //go:embed lines
	stamp    string   // changes with the files that match the patterns
	embedded []embedding
	err      error
	// selection is an index in selections. unsafe says that other selections may avoid assembly or package unsafe.
	selection int
	unsafe    bool
	missing   map[string]string // functions and variables that are not declared in Go, with the reasons
}

// readFiles parses the source of a package: the first selection of its files in which every function
// has a body in Go. If there is none, the result has the functions without a body.
func (l *Loader) readFiles(importPath string, pkg module.Package) *files {
	parsed := map[string]sourceFile{}
	f := l.readSelection(importPath, pkg, 0, parsed)
	if f.err != nil || !f.unsafe {
		return f
	}
	if pure := l.readNext(importPath, pkg, f, f, parsed); pure != nil {
		return pure
	}
	return f
}

// A sourceFile is a file of a package. Most files are in several selections, and the largest packages consist of a single file.
type sourceFile struct {
	text   []byte
	syntax *ast.File
}

// readSelection parses a selection of the files of a package, unless they are in parsed, to which it adds them. Check changes
// the syntax of files, so what has been checked must not be in parsed.
func (l *Loader) readSelection(importPath string, pkg module.Package, number int, parsed map[string]sourceFile) *files {
	target := build.Default
	target.CgoEnabled = false
	selections[number].apply(&target)
	target.BuildTags = append(target.BuildTags, module.BuildTags()...)
	if pkg.Stamp != "" {
		target.ReadDir = readDir
	}
	found, err := target.ImportDir(pkg.Dir, 0)
	var none *build.NoGoError
	switch {
	case (err == nil || errors.As(err, &none)) && len(found.GoFiles) == 0 && len(found.IgnoredGoFiles) > 0:
		reason := "all its files are for cgo or for other systems"
		if pkg.Stamp == "" {
			reason += CompileInstead(importPath)
		}
		return &files{err: errors.New(reason)}
	case err == nil && len(found.GoFiles) == 0:
		return &files{err: errors.New("it has only test files")}
	case errors.As(err, &none):
		return &files{err: errors.New("it has no Go files")}
	case err != nil:
		return &files{err: err}
	case found.Name == "main":
		return &files{err: errors.New("it is a program")}
	}
	f := &files{selection: number, imports: found.Imports, patterns: found.EmbedPatterns}
	f.unsafe = len(found.SFiles) > 0 || slices.Contains(found.Imports, "unsafe")
	bodiless := bodilessFunctions{path: importPath, assembly: len(found.SFiles) > 0}
	for _, name := range found.GoFiles {
		shown := path.Join(pkg.Module.Path+"@"+pkg.Module.Version, strings.TrimPrefix(importPath, pkg.Module.Path), name)
		if pkg.Stamp != "" {
			at := filepath.Join(pkg.Dir, name)
			shown = relative(at)
			l.paths.Store(shown, at)
		}
		file, ok := parsed[name]
		if !ok {
			if file.text, err = os.ReadFile(filepath.Join(pkg.Dir, name)); err != nil {
				return &files{err: err}
			}
			if file.syntax, err = parser.ParseFile(l.fset, shown, file.text, parser.SkipObjectResolution); err != nil {
				return &files{err: err}
			}
			parsed[name] = file
		}
		f.parsed = append(f.parsed, file.syntax)
		bodiless.find(file.syntax, file.text, l.fset)
		if len(f.patterns) > 0 && bytes.Contains(file.text, []byte(embedDirective)) {
			variables, err := embeddings(pkg.Dir, shown, file.text)
			if err != nil {
				return &files{err: err}
			}
			f.embedded = append(f.embedded, variables...)
		}
	}
	added, err := bodiless.replace(l.fset)
	switch {
	case err != nil:
		return &files{err: err}
	case added != nil:
		f.parsed = append(f.parsed, added)
	}
	f.missing = bodiless.missing
	f.unsafe = f.unsafe || len(f.missing) > 0
	if len(f.patterns) > 0 && pkg.Stamp != "" {
		f.stamp = embedded.Stamp(pkg.Dir, f.patterns)
	}
	return f
}

// readDir returns the entries of a directory without those whose reading could wait for ever, such as named pipes.
func readDir(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	var list []fs.FileInfo
	for _, e := range entries {
		if info, statErr := os.Stat(filepath.Join(dir, e.Name())); statErr == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		if info, infoErr := e.Info(); infoErr == nil {
			list = append(list, info)
		}
	}
	return list, err
}

// File returns the path of a file with a name in positions that is relative to the working directory of the time at which it was
// read. ok is false for files of downloaded modules, whose name is not a path.
func (l *Loader) File(name string) (path string, ok bool) {
	at, ok := l.paths.Load(name)
	if !ok {
		return "", false
	}
	path, err := filepath.Abs(at.(string))
	return path, err == nil
}

// relative returns a file name relative to the working directory, if that is shorter.
func relative(name string) string {
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	short, err := filepath.Rel(here, name)
	if err != nil || len(short) > len(name) {
		return name
	}
	return short
}

// readers is how many packages are read, and modules downloaded, at the same time.
const readers = 8

// readAhead reads a package and all that it imports, and so downloads their modules, several at
// the same time. The import finds errors again and reports them.
func (l *Loader) readAhead(importPath string) {
	meter, _ := display.Measure(l.ctx, "reading packages", 0)
	defer meter.End()
	l.read = map[module.Package]*files{}
	seen := map[string]bool{importPath: true}
	for level := []string{importPath}; len(level) > 0; {
		packages, found := make([]module.Package, len(level)), make([]*files, len(level))
		var group errgroup.Group
		group.SetLimit(readers)
		for i, p := range level {
			group.Go(func() error {
				if pkg, ok, err := l.modules.Find(l.ctx, p); ok && err == nil {
					packages[i], found[i] = pkg, l.readFiles(p, pkg)
				}
				return nil
			})
		}
		_ = group.Wait()
		paths := level
		level = nil
		for i, f := range found {
			if f == nil {
				continue
			}
			l.read[packages[i]] = f
			meter.Set(float64(len(l.read)), paths[i])
			for _, p := range f.imports {
				if !seen[p] && l.loaded[p] == nil && !l.isCompiled(p) {
					level = append(level, p)
				}
				seen[p] = true
			}
		}
	}
}

func (l *Loader) isCompiled(importPath string) bool {
	_, err := l.compiled.Import(importPath)
	return err == nil && !l.modules.Local(importPath)
}
