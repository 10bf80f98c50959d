package vet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/magic"
	"github.com/quernlab/quern/interp/module"
	"github.com/quernlab/quern/interp/source"
	"github.com/quernlab/quern/interp/symbols"
)

// A Cell is a code cell.
type Cell struct {
	Number  int // in the notebook, from 1
	Source  string
	MayFail bool // it may have errors, because they are shown on purpose
}

// A Finding is a mistake in a cell.
type Finding struct {
	Cell, Line, Column int    // from 1, columns in bytes
	Message            string // further lines begin with a tab
	// Warning says that the cell would run all the same: the finding is one of an analyzer, or something that only the Go
	// compiler rejects.
	Warning bool
	// Below is the number of the first cell that defines a name which the cell uses, if that is one below it; otherwise 0.
	Below int
}

func (f Finding) String() string {
	return fmt.Sprintf("cell %d:%d:%d: %s", f.Cell, f.Line, f.Column, f.Message)
}

// Notebook returns the findings in the cells of a notebook, sorted by cell, line and column. dir is the directory of the
// notebook, and modules provides the modules of %get.
func Notebook(ctx context.Context, dir string, cells []Cell, modules module.Source) ([]Finding, error) {
	s, err := NewSession(dir, modules)
	if err != nil {
		return nil, err
	}
	for _, c := range cells {
		if _, err := s.Check(ctx, c); err != nil {
			return nil, err
		}
	}
	return s.Findings(), nil
}

// A Session checks the cells of a notebook one after another, without running them.
type Session struct {
	checker  *check.Checker
	loader   *source.Loader
	modules  *module.Set
	autoget  bool // see %autoget
	analyzer *analyzer
	failed   failed
	findings []Finding
	texts    []Cell // those that could be parsed, with their commands replaced
}

// NewSession returns a session without cells. dir is the directory of the notebook, and modules provides the modules of %get.
func NewSession(dir string, modules module.Source) (*Session, error) {
	if err := symbols.Check(); err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	set := module.New(modules)
	set.Prefer(symbols.Offering())
	set.In(dir)
	s := &Session{loader: source.NewLoader(symbols.Importer(fset), fset, set), modules: set, analyzer: newAnalyzer()}
	s.checker = check.New(s.loader, fset, check.Guess(symbols.Guess), check.PackageNames(symbols.Names), check.Refuse(symbols.Refused), check.Return(magic.Name))
	cell, err := s.checker.Check(context.Background(), 0, magic.Predeclared)
	if err != nil {
		return nil, err
	}
	s.checker.Commit(cell)
	return s, nil
}

// Checker returns the checker that has the definitions of the cells so far.
func (s *Session) Checker() *check.Checker { return s.checker }

// Findings returns the findings in the cells so far, sorted by cell, line and column.
func (s *Session) Findings() []Finding {
	s.findBelow()
	slices.SortStableFunc(s.findings, func(x, y Finding) int {
		return cmp.Or(x.Cell-y.Cell, x.Line-y.Line, x.Column-y.Column)
	})
	s.findings = slices.Compact(s.findings)
	return slices.Clone(s.findings)
}

// Check checks the next cell. It returns nil if the cell is empty or has errors, which [Session.Findings] has then; the cells
// after it see nothing of it. The error is that of ctx, or an internal one.
func (s *Session) Check(ctx context.Context, c Cell) (*check.Cell, error) {
	if strings.TrimSpace(c.Source) == "" {
		return nil, nil
	}
	text, wrong := s.commands(ctx, c)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if wrong != nil {
		if !c.MayFail {
			s.failed.cell(c.Source)
			s.findings = append(s.findings, *wrong)
		}
		return nil, nil
	}
	s.texts = append(s.texts, Cell{Number: c.Number, Source: text})
	s.loader.Begin(ctx)
	defer s.loader.End()
	cell, err := s.checker.Check(ctx, c.Number, text)
	var errs check.ErrorList
	switch {
	case errors.As(err, &errs):
		if !c.MayFail {
			s.failed.cell(text)
			s.report(c, s.failed.independent(errs), false)
		}
		return nil, nil
	case err != nil:
		return nil, err
	}
	remarks := cell.Remarks()
	for _, e := range remarks {
		if !strings.HasPrefix(e.Msg, "main was not called") {
			e.Msg += ", which the Go compiler rejects"
		}
	}
	s.report(c, remarks, true)
	if err := s.analyzer.learn(cell.Fset, s.loader.Packages()); err != nil {
		return nil, fmt.Errorf("cell %d: %w", c.Number, err)
	}
	found, err := s.analyzer.run(cell)
	if err != nil {
		return nil, fmt.Errorf("cell %d: %w", c.Number, err)
	}
	s.report(c, found, true)
	for _, e := range cell.Broken {
		s.report(c, check.ErrorList{{Pos: e.Pos, Msg: fmt.Sprintf("%s, since cell %d", e.Msg, c.Number)}}, false)
	}
	s.checker.Commit(cell)
	s.failed.defined(text)
	return cell, nil
}

// report adds errors, each in the cell of its position.
func (s *Session) report(c Cell, errs check.ErrorList, warnings bool) {
	for _, e := range errs {
		number, ok := check.FileNumber(e.Pos.Filename)
		if !ok {
			number = c.Number
		}
		s.findings = append(s.findings, Finding{Cell: number, Line: max(e.Pos.Line, 1), Column: max(e.Pos.Column, 1), Message: e.Msg, Warning: warnings})
	}
}
