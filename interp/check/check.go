package check

import (
	"go/token"
	"go/types"
	"sync"
)

// goVersion is the language that cells are written in.
const goVersion = "go1.26"

// A Checker holds what earlier cells defined.
type Checker struct {
	importer types.Importer
	fset     *token.FileSet
	guess    func(name string) []string

	mu       sync.Mutex // guards all fields below, and the scope of pkg
	pkg      *types.Package
	info     *types.Info
	live     map[string]types.Object // package-level names of committed cells
	imports  map[string]string       // package name to import path, of committed cells
	dots     []string                // paths of dot imports of committed cells
	declared map[types.Object]*declaration
}

// An Option changes a new Checker.
type Option func(*Checker)

// Guess sets the function that gives the import paths of packages with a name,
// best first, for qualifiers that no import declares. Without it nothing is
// imported by itself.
func Guess(paths func(name string) []string) Option {
	return func(c *Checker) { c.guess = paths }
}

// New returns a Checker for a new session. Cells and the packages that importer
// loads have their positions in fset.
func New(importer types.Importer, fset *token.FileSet, options ...Option) *Checker {
	c := &Checker{
		importer: importer,
		fset:     fset,
		guess:    func(string) []string { return nil },
		pkg:      types.NewPackage("main", "main"),
		info:     newInfo(),
		live:     map[string]types.Object{},
		imports:  map[string]string{},
		declared: map[types.Object]*declaration{},
	}
	for _, o := range options {
		o(c)
	}
	return c
}

// Check checks a cell. The error is an [ErrorList]. The result is not visible
// to later cells before Commit.
func (c *Checker) Check(number int, src string) (*Cell, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, errs := parse(c.fset, number, src, nil)
	if errs != nil {
		return nil, errs.sorted(number)
	}
	a := c.attempt(u)
	cell, errs := a.finish()
	if errs != nil {
		c.fset.RemoveFile(u.token)
		return nil, u.nameCommands(errs).sorted(number)
	}
	return cell, nil
}

// Commit makes the definitions of a cell live.
func (c *Checker) Commit(cell *Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, path := range cell.imports {
		c.imports[name] = path
		delete(c.live, name)
	}
	c.dots = append(c.dots, cell.dots...)
	for _, n := range cell.names {
		c.live[n.name] = n.object
	}
}
