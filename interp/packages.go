package interp

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/goroutine"
	"github.com/quernlab/quern/interp/lower"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/symbols"
)

// Packages of modules are lowered and run like cells, when a cell imports them.

// runPackages makes what a checked cell needs of packages of modules ready.
func (s *Session) runPackages(ctx context.Context, cell *check.Cell) error {
	var imports []string
	for _, spec := range cell.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports = append(imports, path)
		}
	}
	parts := s.loader.Needed(imports, cell.Info, nodes(cell), cell.Vars)
	for i, p := range parts {
		if err := s.runPart(ctx, cell.Number, p); err != nil {
			s.loader.Drop(parts[i:])
			return err
		}
		s.loader.Ran(p)
	}
	return nil
}

// nodes are the syntax of a cell.
func nodes(cell *check.Cell) []ast.Node {
	var list []ast.Node
	for _, t := range cell.Types {
		list = append(list, t)
	}
	for _, f := range cell.Funcs {
		list = append(list, f)
	}
	for _, i := range cell.Init {
		list = append(list, i.Rhs)
	}
	for _, b := range cell.Body {
		list = append(list, b)
	}
	return list
}

func (s *Session) runPart(ctx context.Context, number int, p *source.Part) error {
	if p.Empty() {
		return nil
	}
	s.checker.AddFacts(p.Info, p.Nodes)
	cell := &check.Cell{
		Number: number, Fset: s.fset, Package: p.Types, Info: s.checker.Info(),
		Types: p.Specs, Funcs: p.Funcs, Vars: p.Vars, Init: p.Init, Body: p.Inits,
	}
	unit, err := s.program.Lower(ctx, cell)
	var unsupported *lower.UnsupportedError
	if errors.As(err, &unsupported) {
		return &source.Error{Path: p.Path, Err: fmt.Errorf("%s: %w", unsupported.Position, err)}
	} else if err != nil {
		return &source.Error{Path: p.Path, Err: err}
	}
	if err := s.compile(ctx, unit); err != nil {
		s.program.Discard(unit)
		return &source.Error{Path: p.Path, Err: err}
	}
	s.program.Commit(unit)
	s.sources.AddCell(cell, s.program.Name)
	nothing := func() (Result, error) { return Result{}, nil }
	if _, err := s.run(ctx, goroutine.NewRun(number), unit, nothing, func() {}); err != nil {
		return &source.Error{Path: p.Path, Err: err}
	}
	return nil
}

// getModules adds the modules that a cell asks for.
func (s *Session) getModules(ctx context.Context, requests []magic.Module) *magic.Error {
	for _, r := range requests {
		path, _, _ := strings.Cut(r.Query, "@")
		if symbols.Has(path) {
			continue
		}
		if _, err := s.modules.Get(ctx, r.Query); err != nil {
			return &magic.Error{Offset: r.Offset, Msg: fmt.Sprintf("%%get %s: %v", r.Query, err)}
		}
	}
	return nil
}
