package structure

import (
	"errors"
	"go/ast"
	"go/build"

	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layered are packages with many files in which no two files refer to each other, not even
// through others: one can read them from the bottom to the top.
var layered = []string{"accel", "accel/history", "accel/internal/training/loop", "accel/internal/cuda", "accel/internal/cuda/kernels", "interp/vm", "kernel"}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, folder := range layered {
		references := fileReferences(t, folder)
		reached := map[string][]string{} // the files that a file refers to, also through others
		var visit func(from, name string)
		visit = func(from, name string) {
			for _, to := range references[name] {
				if !slices.Contains(reached[from], to) {
					reached[from] = append(reached[from], to)
					visit(from, to)
				}
			}
		}
		var cycle []string
		for name := range references {
			if visit(name, name); slices.Contains(reached[name], name) {
				cycle = append(cycle, name)
			}
		}
		if slices.Sort(cycle); len(cycle) > 0 {
			t.Errorf("%s: these files refer to one another, directly or through others: %s\n"+
				"move what two of them share to a file below both, or let one declare an interface", folder, strings.Join(cycle, ", "))
		}
		if len(references) < 10 {
			t.Errorf("%s: only %d files refer to others: does the test find references?", folder, len(references))
		}
	}
}

// fileReferences returns, for each file of a package, the other files whose declarations it
// uses. The package is type-checked without its imports, so a few uses of methods are missing.
func fileReferences(t *testing.T, folder string) map[string][]string {
	t.Helper()
	folder = filepath.Join(root, folder)
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	positions := token.NewFileSet()
	var syntax []*ast.File
	for _, name := range names {
		matches, err := build.Default.MatchFile(folder, filepath.Base(name))
		if err == nil && matches && !strings.HasSuffix(name, "_test.go") {
			var f *ast.File
			f, err = parser.ParseFile(positions, name, nil, 0)
			syntax = append(syntax, f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: none{}, Error: func(error) {}, FakeImportC: true}
	p, _ := c.Check(folder, positions, syntax, info) // the imports are missing
	references := map[string][]string{}
	for use, object := range info.Uses {
		from, to := positions.Position(use.Pos()).Filename, positions.Position(object.Pos()).Filename
		from, to = filepath.Base(from), filepath.Base(to)
		if object.Pkg() == p && from != to && !slices.Contains(references[from], to) {
			references[from] = append(references[from], to)
		}
	}
	return references
}

// none imports no package.
type none struct{}

func (none) Import(path string) (*types.Package, error) { return nil, errors.New("not imported") }
