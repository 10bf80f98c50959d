package source

import (
	"go/ast"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/module"
)

// A selection says with which build constraints the files of a package are selected.
type selection struct {
	tags []string
	arch string // "" is that of this machine
	// guess says that these files may never have been compiled together.
	guess bool
}

// pure are build tags with which packages select their code in Go instead of assembly, or slower code
// without package unsafe. They do not change what a package does.
var pure = []string{"purego", "noasm", "nounsafe"}

// safe are pure and tags with which packages do without package unsafe even where they do less then. For example,
// github.com/davecgh/go-spew does not call the methods of unexported fields.
var safe = append([]string{"safe", "disableunsafe"}, pure...)

// selections are tried in this order for a package with assembly or with package unsafe. All other packages have the
// first one, which is that of the go command.
//
// A package without a build tag for its code in Go has that code for architectures for which it
// has no assembly. "none" is an architecture that no package knows. "mips64le" is one that has the memory layout of
// amd64 and arm64 and seldom has assembly, for packages that have to know their architecture. It is only used for packages
// that make no system calls, because these have other numbers and structures there.
var selections = []selection{
	{},
	{tags: pure},
	{tags: safe},
	{tags: safe, arch: "none", guess: true},
	{tags: safe, arch: "mips64le", guess: true},
	{tags: append([]string{"appengine"}, safe...), guess: true},
}

func (s selection) apply(c *build.Context) {
	c.BuildTags = slices.Clone(s.tags)
	if s.arch != "" {
		c.GOARCH = s.arch
	}
}

// fits reports whether a package may be made from the files of this selection. original are the files for this
// machine. For another architecture, the package has to declare the same exported names.
func (s selection) fits(f, original *files) bool {
	if f.err != nil || len(f.missing) > 0 {
		return false
	}
	if s.arch == "mips64le" && slices.ContainsFunc(f.imports, func(path string) bool { return path == "syscall" || strings.HasPrefix(path, "golang.org/x/sys/") }) {
		return false
	}
	return s.arch == "" || maps.Equal(exported(f), exported(original))
}

// exported returns the exported names that files declare.
func exported(f *files) map[string]bool {
	names := map[string]bool{}
	note := func(id *ast.Ident) {
		if id.IsExported() {
			names[id.Name] = true
		}
	}
	for _, file := range f.parsed {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					note(d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						note(s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							note(id)
						}
					}
				}
			}
		}
	}
	return names
}

// readNext parses the next selection of the files of a package after f in which every function has a body. It
// returns nil if there is none. original are the files for this machine. See readSelection for parsed.
func (l *Loader) readNext(importPath string, pkg module.Package, f, original *files, parsed map[string]sourceFile) *files {
	for i := f.selection + 1; i < len(selections); i++ {
		if next := l.readSelection(importPath, pkg, i, parsed); selections[i].fits(next, original) {
			return next
		}
	}
	return nil
}

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
