package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// modulePath is the import path of the module.
const modulePath = "github.com/quernlab/quern/"

// root is the folder of the module, relative to this package.
const root = "../.."

// A file is a Go file that is not a test.
type file struct {
	path      string // relative to the root, with slashes
	folder    string
	syntax    *ast.File
	positions *token.FileSet
}

// position returns the position of a node, relative to the root.
func (f file) position(n ast.Node) token.Position {
	p := f.positions.Position(n.Pos())
	p.Filename = f.path
	return p
}

// hidden are folders that do not belong to the module: those of tools and of the
// Makefile's output.
func hidden(name string) bool {
	return name == "testdata" || name == "build" || name == "bin" || strings.HasPrefix(name, ".") && name != root
}

// walk calls see for each file of the module with a suffix, in the order of names.
func walk(t *testing.T, ending string, see func(name string)) {
	t.Helper()
	found := false
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && hidden(entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ending):
			found = true
			relative, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			see(filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Fatalf("no file ends in %s", ending)
	}
}

// files returns the Go files of the module without tests, for all systems. It skips
// accel/internal/cpu/asm, which is a separate module.
func files(t *testing.T, mode parser.Mode) []file {
	t.Helper()
	var all []file
	walk(t, ".go", func(name string) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "accel/internal/cpu/asm/") {
			return
		}
		positions := token.NewFileSet()
		syntax, err := parser.ParseFile(positions, filepath.Join(root, name), nil, mode)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{name, path.Dir(name), syntax, positions})
	})
	return all
}

// read returns the content of a file of the module.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
