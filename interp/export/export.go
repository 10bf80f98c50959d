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
	Markdown bool // a text cell; other cells are code
	Source   string
	MayFail  bool // has the tag raises-exception
	Skip     bool // has the tag skip-execution
	Number   int  // in what is reported; 0 for its place among all cells
}

// A Source is an exported program.
type Source struct {
	Main    []byte        // main.go
	Imports []string      // import paths, sorted
	Modules []Requirement // modules of %get that it uses
	Local   module.Lines  // of go.mod, for packages on this machine
	Below   string        // the module must be below this path to import internal packages; empty for none
}

// A Problem is one reason why a notebook cannot be exported.
type Problem struct {
	Cell   int // number of the cell in the notebook, from 1
	Line   int // line in the cell, from 1; 0 for the whole cell
	Reason string
}

func (o Problem) String() string {
	if o.Line == 0 {
		return fmt.Sprintf("cell %d: %s", o.Cell, o.Reason)
	}
	return fmt.Sprintf("cell %d, line %d: %s", o.Cell, o.Line, o.Reason)
}

// Error lists why a notebook cannot be exported.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, o := range e.Problems {
		lines[i] = o.String()
	}
	return "this notebook cannot be exported:\n  " + strings.Join(lines, "\n  ")
}

// Program exports the cells of a notebook as a program. The directory of path may be in a module, and its last
// element appears in a comment; modules provides the modules of %get. If the notebook cannot be exported, the
// error is an *Error.
func Program(ctx context.Context, path string, cells []Cell, modules module.Source) (*Source, error) {
	n, err := read(ctx, cells, modules, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	p := newProgram(n)
	if problems := p.prepare(); len(problems) > 0 {
		return nil, reject(problems)
	}
	text := p.write(filepath.Base(path))
	main, err := finish(text, n.importer)
	if err != nil {
		return nil, fmt.Errorf("internal error: the exported program does not compile: %w", err)
	}
	imports := p.imports.paths()
	required, problems := n.importer.requirements(imports)
	if len(problems) > 0 {
		return nil, reject(problems)
	}
	local, err := n.importer.local()
	if err != nil {
		return nil, err
	}
	return &Source{Main: main, Imports: imports, Modules: required, Local: local, Below: n.importer.internalBelow(imports)}, nil
}

func reject(problems []Problem) error {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Cell != b.Cell {
			return a.Cell - b.Cell
		}
		return a.Line - b.Line
	})
	return &Error{slices.Compact(problems)}
}

// newChecker returns a checker with the same predeclared names as in a session: ctx and the function that
// replaces commands.
func newChecker(fset *token.FileSet, importer types.Importer) (*check.Checker, error) {
	if err := symbols.Check(); err != nil {
		return nil, err
	}
	c := check.New(importer, fset, check.Guess(symbols.Guess), check.Refuse(symbols.Refused), check.Return(magic.OutputName))
	cell, err := c.Check(context.Background(), 0, fmt.Sprintf("var ctx context.Context\nfunc %s(text string) {}\nfunc %s(int) {}", magic.Name, magic.OutputName))
	if err != nil {
		return nil, err
	}
	c.Commit(cell)
	return c, nil
}
