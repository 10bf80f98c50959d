package export

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/symbols"
)

// A Cell is a cell of a notebook.
type Cell struct {
	Markdown bool // text; other cells are code
	Source   string
	MayFail  bool // it has the tag raises-exception
	Skip     bool // it has the tag skip-execution
}

// A Source is a program.
type Source struct {
	Main    []byte        // main.go
	Imports []string      // the paths that it imports, sorted
	Modules []Requirement // modules of %get that it uses
	Local   module.Lines  // of go.mod, for packages on this machine
	Below   string        // the module must be below this path to import internal packages; empty for none
}

// An Objection is one reason why a notebook cannot be exported.
type Objection struct {
	Cell   int // number among all cells of the notebook, from 1
	Line   int // in the cell, from 1; 0 for the whole cell
	Reason string
}

func (o Objection) String() string {
	if o.Line == 0 {
		return fmt.Sprintf("cell %d: %s", o.Cell, o.Reason)
	}
	return fmt.Sprintf("cell %d, line %d: %s", o.Cell, o.Line, o.Reason)
}

// A Refusal is the error of a notebook that cannot be exported.
type Refusal struct{ Objections []Objection }

func (r *Refusal) Error() string {
	lines := make([]string, len(r.Objections))
	for i, o := range r.Objections {
		lines[i] = o.String()
	}
	return "this notebook cannot be a program:\n  " + strings.Join(lines, "\n  ")
}

// Program makes a program of the cells of a notebook. The path of the notebook is that of a file
// whose directory may be in a module, and its name is used in a comment; modules is where %get finds
// modules. The error is a *Refusal.
func Program(ctx context.Context, path string, cells []Cell, modules module.Source) (*Source, error) {
	n, err := read(ctx, cells, modules, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	p := newProgram(n)
	if objections := p.prepare(); len(objections) > 0 {
		return nil, refuse(objections)
	}
	text := p.write(filepath.Base(path))
	main, err := finish(text, n.importer)
	if err != nil {
		return nil, fmt.Errorf("the program made of the notebook is not right, which is a fault of quern: %w", err)
	}
	imports := p.imports.paths()
	required, objections := n.importer.requirements(imports)
	if len(objections) > 0 {
		return nil, refuse(objections)
	}
	local, err := n.importer.local()
	if err != nil {
		return nil, err
	}
	return &Source{Main: main, Imports: imports, Modules: required, Local: local, Below: n.importer.internalBelow(imports)}, nil
}

func refuse(objections []Objection) error {
	slices.SortStableFunc(objections, func(a, b Objection) int {
		if a.Cell != b.Cell {
			return a.Cell - b.Cell
		}
		return a.Line - b.Line
	})
	return &Refusal{slices.Compact(objections)}
}

// newChecker returns a checker like that of a session, with ctx and the function that replaces
// commands.
func newChecker(fset *token.FileSet, importer types.Importer) (*check.Checker, error) {
	if err := symbols.Check(); err != nil {
		return nil, err
	}
	c := check.New(importer, fset, check.Guess(symbols.Guess), check.Refuse(symbols.Refused))
	cell, err := c.Check(context.Background(), 0, fmt.Sprintf("var ctx context.Context\nfunc %s(text string) {}", magic.Name))
	if err != nil {
		return nil, err
	}
	c.Commit(cell)
	return c, nil
}
